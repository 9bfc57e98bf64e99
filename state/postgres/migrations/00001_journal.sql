-- The first schema: the journal, and the rows that are folded from it.
-- Times are milliseconds since 1970 in UTC. Statuses are those of package state, by number:
-- 1 unsent, 2 in doubt, 3 recorded, 4 adopted, 5 unverified, 6 refused, 7 conflict, 8 tombstone.
-- What the service says is kept as bytes: a text may not hold all that JSON can say.

-- What the state says of itself: one row. Its serial and its head are those of the newest event.
CREATE TABLE meta (
    one         boolean PRIMARY KEY CHECK (one),
    version     integer NOT NULL CHECK (version >= 1), -- of this schema
    lineage     text    NOT NULL CHECK (lineage <> ''),
    environment text    NOT NULL CHECK (environment <> ''),
    base_url    text    NOT NULL CHECK (base_url <> ''),
    operator    text    NOT NULL,
    client_id   text    NOT NULL,
    customer_id bytea   NOT NULL,
    precheck    boolean NOT NULL,
    created_ms  bigint  NOT NULL,
    -- Every commit locks this row, and compares the fence with that of its own lock.
    fence       bigint  NOT NULL CHECK (fence >= 0),
    -- The lock is an advisory lock on this number; taking it away counts the number up.
    lock        integer NOT NULL CHECK (lock >= 0),
    holder_pid  integer NOT NULL, -- the server process of the holder's session
    holder      text    NOT NULL, -- who that is, as JSON
    -- Where a state was moved to, or is still being moved from; '' for one that is in use.
    moved       text    NOT NULL
);

-- The journal: the truth. It only grows, without gaps, and its times never go back.
CREATE TABLE events (
    seq      bigint PRIMARY KEY CHECK (seq >= 1),
    time_ms  bigint NOT NULL,
    kind     text   NOT NULL CHECK (kind IN ('created', 'begun', 'intent', 'outcome', 'ended', 'unlocked', 'rebound')),
    ref_id   text   NOT NULL,
    run_id   text   NOT NULL,
    -- The event before this one of the same ref_id, 0 where there is none: a list that takes
    -- the place of an index, whose pages would be written in random order. Not hashed.
    previous bigint NOT NULL CHECK (previous >= 0 AND previous < seq),
    data     bytea  NOT NULL,
    hash     bytea  NOT NULL CHECK (length(hash) = 32),
    CHECK ((seq = 1) = (kind = 'created')),
    CHECK ((ref_id <> '') = (kind IN ('intent', 'outcome')))
) WITH (toast_tuple_target = 8160);

ALTER TABLE events ALTER COLUMN data SET STORAGE EXTERNAL; -- kept whole beside its row, which is read in one go

-- The settings keep the plan of its one statement from being that of a table that was small.
CREATE FUNCTION events_append() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    before bigint;
BEGIN
    IF NEW.seq > 1 THEN
        SELECT time_ms INTO before FROM events WHERE seq = NEW.seq - 1;
        IF NOT FOUND OR NEW.time_ms < before THEN
            RAISE EXCEPTION 'the journal only grows: events follow one another in number and time';
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER events_append BEFORE INSERT ON events
    FOR EACH ROW EXECUTE FUNCTION events_append();

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER events_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('the journal only grows: no event is changed or removed');

-- One row a ref_id: a fold of its events, narrow, in the order in which plans read it.
CREATE TABLE transfers (
    ref_id         text COLLATE "C" PRIMARY KEY CHECK (char_length(ref_id) BETWEEN 1 AND 100),
    status         smallint NOT NULL CHECK (status BETWEEN 1 AND 8),
    doubted        boolean  NOT NULL,
    from_label     boolean  NOT NULL,
    fingerprint    bytea    NOT NULL CHECK (length(fingerprint) = 32),
    request_digest bytea    NOT NULL CHECK (length(request_digest) = 16),
    twin           bigint   NOT NULL,
    destination    bigint   NOT NULL,
    asset          bytea    NOT NULL CHECK (asset <> ''),
    amount         text     NOT NULL CHECK (amount <> ''),
    record_id      bytea    CHECK (record_id <> ''),
    group_id       bytea    NOT NULL,
    record_status  bytea    NOT NULL,
    intended_ms    bigint,
    attempted_ms   bigint,
    settled_ms     bigint,
    run_id         text     NOT NULL,
    intent_seq     bigint   NOT NULL CHECK (intent_seq >= 0),
    outcome_seq    bigint   NOT NULL CHECK (outcome_seq >= 0),
    last_seq       bigint   NOT NULL CHECK (last_seq >= intent_seq AND last_seq >= outcome_seq),
    -- Only a doubt is doubted, and only a doubt is without an outcome.
    CHECK (NOT doubted OR status = 2),
    CHECK (status = 2 OR (outcome_seq > 0 AND settled_ms IS NOT NULL)),
    -- A made transfer has its record; one that was not, or perhaps not, has none.
    CHECK (status NOT IN (3, 4, 5) OR record_id IS NOT NULL),
    CHECK (status NOT IN (1, 2, 6) OR record_id IS NULL),
    CHECK ((record_id IS NULL) = (record_status = '')),
    -- A request is in force, except where a record was imported without one.
    CHECK ((intent_seq > 0) = (intended_ms IS NOT NULL)),
    CHECK ((intended_ms IS NULL) = (attempted_ms IS NULL)),
    CHECK (attempted_ms >= intended_ms),
    CHECK (intent_seq > 0 OR record_id IS NOT NULL)
) WITH (fillfactor = 80); -- a row is written at least twice

-- No record pays for two ref_ids.
CREATE UNIQUE INDEX transfers_record_id ON transfers (record_id) WHERE record_id IS NOT NULL;

CREATE TRIGGER transfers_delete BEFORE DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('no ref_id is forgotten');

CREATE TRIGGER transfers_record BEFORE UPDATE OF record_id ON transfers
    FOR EACH ROW WHEN (OLD.record_id IS NOT NULL AND NEW.record_id IS DISTINCT FROM OLD.record_id)
    EXECUTE FUNCTION refuse('a stored record stays under its ref_id');

-- One row an apply: where its beginning and its end stand in the journal.
CREATE TABLE runs (
    run_id    text   PRIMARY KEY CHECK (run_id <> ''),
    begun_seq bigint NOT NULL UNIQUE,
    ended_seq bigint CHECK (ended_seq > begun_seq)
);
