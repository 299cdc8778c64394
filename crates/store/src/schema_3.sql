-- Version 3: sweeps, of whose runs only the metrics are kept; docs/STORE.md describes the columns.
CREATE TABLE sweep (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT NOT NULL UNIQUE,
    file    TEXT NOT NULL,
    plan    TEXT NOT NULL,
    model   TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE sweep_run (
    sweep      INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    scenario   TEXT NOT NULL,
    parameters TEXT NOT NULL,
    seed       TEXT NOT NULL,
    result     TEXT NOT NULL,
    error      TEXT,
    PRIMARY KEY (sweep, number)
) WITHOUT ROWID;
