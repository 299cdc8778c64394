-- The schema of a store, version 1; docs/STORE.md explains it. No words here that need a SQLite newer than 3.34.

-- What the file says about itself.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Experiment files as they were run, each text once.
CREATE TABLE file (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- One row a run. The seed is text, for it has 64 bits without a sign.
CREATE TABLE run (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment  TEXT NOT NULL,
    seed        TEXT NOT NULL,
    run_index   INTEGER NOT NULL,
    mode        TEXT NOT NULL,
    version     TEXT NOT NULL,
    file        INTEGER NOT NULL REFERENCES file (id),
    interval_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL
);
CREATE INDEX run_of_experiment ON run (experiment);
CREATE INDEX run_of_file ON run (file);

-- The cell of the experiment's grid.
CREATE TABLE parameter (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE stream (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    kind     TEXT NOT NULL,
    began_ns INTEGER NOT NULL,
    ended_ns INTEGER NOT NULL,
    UNIQUE (run, position)
);

-- Sampled quantities (shape 'column', times NULL) and values at their own times (shape 'points').
CREATE TABLE series (
    stream   INTEGER NOT NULL REFERENCES stream (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    shape    TEXT NOT NULL,
    name     TEXT NOT NULL,
    count    INTEGER NOT NULL,
    times    BLOB,
    data     BLOB NOT NULL,
    PRIMARY KEY (stream, position)
);

CREATE TABLE event (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    at_ns    INTEGER NOT NULL,
    stream   TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    REAL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE metric (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    stream   TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    REAL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

-- Every metric beside what it was measured on.
CREATE VIEW result AS
SELECT run.id AS run, run.experiment,
       (SELECT group_concat(pair, ', ')
          FROM (SELECT name || '=' || value AS pair FROM parameter WHERE parameter.run = metric.run ORDER BY position)
       ) AS cell,
       run.seed, run.run_index, run.mode, run.version, metric.stream, metric.name AS metric, metric.value
  FROM metric JOIN run ON run.id = metric.run;

INSERT INTO meta VALUES
    ('about', 'Runs of Weir, a laboratory for WebRTC congestion control'),
    ('series.data', 'one Zstandard frame of little-endian IEEE 754 doubles; not-a-number where there is no value'),
    ('series.times', 'one Zstandard frame of little-endian 64-bit integers: nanoseconds since the start of the run');
