-- The first schema: the journal, and the rows that are folded from it.
-- Times are milliseconds since 1970 in UTC. Statuses are those of package state, by number:
-- 1 unsent, 2 in doubt, 3 recorded, 4 adopted, 5 unverified, 6 refused, 7 conflict, 8 tombstone.
-- No constraint has an IN of three values or more: SQLite makes a table of them for each row.

-- +goose Up

PRAGMA application_id = 1919249780; -- "remt"
PRAGMA user_version = 1;

-- What the state says of itself: one row. Its serial and its head are those of the newest event.
CREATE TABLE meta (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    lineage     TEXT    NOT NULL CHECK (lineage <> ''),
    environment TEXT    NOT NULL CHECK (environment <> ''),
    base_url    TEXT    NOT NULL CHECK (base_url <> ''),
    operator    TEXT    NOT NULL,
    client_id   TEXT    NOT NULL,
    customer_id TEXT    NOT NULL,
    precheck    INTEGER NOT NULL CHECK (precheck IN (0, 1)),
    created_ms  INTEGER NOT NULL,
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    -- Every event up to this one is in the rows of transfers; later ones may be.
    folded      INTEGER NOT NULL CHECK (folded >= 1),
    -- Where a state was moved to, or is still being moved from; '' for one that is in use.
    moved       TEXT    NOT NULL
) STRICT;

-- The journal: the truth. It only grows, without gaps, and its times never go back.
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY CHECK (seq >= 1),
    time_ms  INTEGER NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind = 'intent' OR kind = 'outcome' OR kind = 'created'
        OR kind = 'begun' OR kind = 'ended' OR kind = 'unlocked' OR kind = 'rebound'),
    ref_id   TEXT    NOT NULL,
    run_id   TEXT    NOT NULL,
    -- The event before this one of the same ref_id, 0 where there is none: a list that takes
    -- the place of an index, whose pages would be written in random order. Not hashed.
    previous INTEGER NOT NULL CHECK (previous >= 0 AND previous < seq),
    data     TEXT    NOT NULL,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    CHECK ((seq = 1) = (kind = 'created')),
    CHECK ((ref_id <> '') = (kind IN ('intent', 'outcome')))
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER events_append BEFORE INSERT ON events
WHEN NOT coalesce((SELECT NEW.seq = seq + 1 AND NEW.time_ms >= time_ms FROM events ORDER BY seq DESC LIMIT 1), NEW.seq = 1)
BEGIN
    SELECT RAISE(ABORT, 'the journal only grows: events follow one another in number and time');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal only grows: no event is changed');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal only grows: no event is removed');
END;
-- +goose StatementEnd

-- One row a ref_id: a fold of its events, narrow, in the order in which plans read it.
CREATE TABLE transfers (
    ref_id         TEXT    PRIMARY KEY CHECK (length(ref_id) BETWEEN 1 AND 100),
    status         INTEGER NOT NULL CHECK (status BETWEEN 1 AND 8),
    doubted        INTEGER NOT NULL CHECK (doubted IN (0, 1)),
    from_label     INTEGER NOT NULL CHECK (from_label IN (0, 1)),
    fingerprint    BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    request_digest BLOB    NOT NULL CHECK (length(request_digest) = 16),
    twin           INTEGER NOT NULL,
    destination    INTEGER NOT NULL,
    asset          TEXT    NOT NULL CHECK (asset <> ''),
    amount         TEXT    NOT NULL CHECK (amount <> ''),
    record_id      TEXT    CHECK (record_id <> ''),
    group_id       TEXT    NOT NULL,
    record_status  TEXT    NOT NULL,
    intended_ms    INTEGER,
    attempted_ms   INTEGER,
    settled_ms     INTEGER,
    run_id         TEXT    NOT NULL,
    intent_seq     INTEGER NOT NULL CHECK (intent_seq >= 0),
    outcome_seq    INTEGER NOT NULL CHECK (outcome_seq >= 0),
    last_seq       INTEGER NOT NULL CHECK (last_seq >= intent_seq AND last_seq >= outcome_seq),
    -- Only a doubt is doubted, and only a doubt is without an outcome.
    CHECK (doubted = 0 OR status = 2),
    CHECK (status = 2 OR (outcome_seq > 0 AND settled_ms IS NOT NULL)),
    -- A made transfer has its record; one that was not, or perhaps not, has none.
    CHECK (status NOT BETWEEN 3 AND 5 OR record_id IS NOT NULL),
    CHECK (status > 2 AND status <> 6 OR record_id IS NULL),
    CHECK ((record_id IS NULL) = (record_status = '')),
    -- A request is in force, except where a record was imported without one.
    CHECK ((intent_seq > 0) = (intended_ms IS NOT NULL)),
    CHECK ((intended_ms IS NULL) = (attempted_ms IS NULL)),
    CHECK (attempted_ms >= intended_ms),
    CHECK (intent_seq > 0 OR record_id IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- No record pays for two ref_ids.
CREATE UNIQUE INDEX transfers_record_id ON transfers (record_id) WHERE record_id IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER transfers_delete BEFORE DELETE ON transfers
BEGIN
    SELECT RAISE(ABORT, 'no ref_id is forgotten');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER transfers_record BEFORE UPDATE OF record_id ON transfers
WHEN OLD.record_id IS NOT NULL AND NEW.record_id IS NOT OLD.record_id
BEGIN
    SELECT RAISE(ABORT, 'a stored record stays under its ref_id');
END;
-- +goose StatementEnd

-- One row an apply: where its beginning and its end stand in the journal.
CREATE TABLE runs (
    run_id    TEXT    PRIMARY KEY CHECK (run_id <> ''),
    begun_seq INTEGER NOT NULL UNIQUE,
    ended_seq INTEGER CHECK (ended_seq > begun_seq)
) STRICT, WITHOUT ROWID;
