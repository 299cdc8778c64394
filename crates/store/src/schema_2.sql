-- Version 2: text facts about a run, such as the browsers that made it; names as in docs/STORE.md.
CREATE TABLE note (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
