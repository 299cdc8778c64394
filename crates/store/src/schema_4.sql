-- Version 4: words by which people find runs again; docs/STORE.md describes the columns.
CREATE TABLE tag (
    run  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (run, name)
) WITHOUT ROWID;
