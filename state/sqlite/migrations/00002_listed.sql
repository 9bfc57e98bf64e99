-- A made transfer may stand on what a list says instead of a record: it has a group_id, and no
-- record_id. SQLite can't change a CHECK, so the table is made anew, in one transaction.

-- +goose Up

PRAGMA user_version = 2;

DROP TRIGGER transfers_delete;
DROP TRIGGER transfers_record;
DROP INDEX transfers_record_id;
ALTER TABLE transfers RENAME TO transfers_before;

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
    -- A made transfer has its record; in place of it, one that is adopted or unverified may have
    -- the group_id of a list. One that was not made, or perhaps not, has neither.
    CHECK (status NOT BETWEEN 3 AND 5 OR record_id IS NOT NULL OR (status <> 3 AND group_id <> '')),
    CHECK (status > 2 AND status <> 6 OR (record_id IS NULL AND group_id = '')),
    CHECK ((record_id IS NULL) = (record_status = '')),
    -- A request is in force, except where a record, or a line of a list, was imported without one.
    CHECK ((intent_seq > 0) = (intended_ms IS NOT NULL)),
    CHECK ((intended_ms IS NULL) = (attempted_ms IS NULL)),
    CHECK (attempted_ms >= intended_ms),
    CHECK (intent_seq > 0 OR record_id IS NOT NULL OR group_id <> '' OR status = 8)
) STRICT, WITHOUT ROWID;

INSERT INTO transfers (ref_id, status, doubted, from_label, fingerprint, request_digest, twin, destination,
        asset, amount, record_id, group_id, record_status, intended_ms, attempted_ms, settled_ms,
        run_id, intent_seq, outcome_seq, last_seq)
    SELECT ref_id, status, doubted, from_label, fingerprint, request_digest, twin, destination,
        asset, amount, record_id, group_id, record_status, intended_ms, attempted_ms, settled_ms,
        run_id, intent_seq, outcome_seq, last_seq
    FROM transfers_before ORDER BY ref_id;

DROP TABLE transfers_before;

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
