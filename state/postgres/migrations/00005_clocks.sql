-- An event keeps its time as the writer's clock had it: its order is its number alone, and a clock
-- that was wrong is told apart instead of being bent. The rows stay as they are.

DO $$
DECLARE
    rule record;
BEGIN
    FOR rule IN
        SELECT conrelid, conname FROM pg_constraint
        WHERE contype = 'c' AND (conrelid = 'transfers'::regclass AND pg_get_constraintdef(oid) ~ 'attempted_ms >= intended_ms'
            OR conrelid = 'events'::regclass AND pg_get_constraintdef(oid) ~ '''rebound''')
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.conrelid::regclass, rule.conname);
    END LOOP;
END $$;

-- What is there kept a stricter rule, so no row needs to be read.
ALTER TABLE events ADD CONSTRAINT events_kind
    CHECK (kind IN ('created', 'begun', 'intent', 'outcome', 'ended', 'unlocked', 'rebound', 'clock', 'asked')) NOT VALID;

-- Events whose time lies more than ten minutes (state.JumpMin) before that of the event before.
CREATE TABLE jumps (
    seq     bigint PRIMARY KEY CHECK (seq > 1),
    back_ms bigint NOT NULL CHECK (back_ms > 600000)
);

-- Where a clock was last found right.
CREATE INDEX events_clock ON events (seq) WHERE kind = 'clock';

-- The settings keep the plan of its one statement from being that of a table that was small.
CREATE OR REPLACE FUNCTION events_append() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    before bigint;
BEGIN
    IF NEW.seq > 1 THEN
        SELECT time_ms INTO before FROM events WHERE seq = NEW.seq - 1;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the journal only grows: events follow one another in number';
        END IF;
        IF NEW.time_ms < before - 600000 THEN
            INSERT INTO jumps VALUES (NEW.seq, before - NEW.time_ms);
        END IF;
    END IF;
    RETURN NEW;
END $$;
