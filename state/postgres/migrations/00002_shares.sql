-- A run that several runners carry out together. Nothing here is the truth: that is the journal.
-- These tables say who may work on what at the moment; the next run empties them.

-- A run that its first runner opened to others.
CREATE TABLE shares (
    run_id  text    PRIMARY KEY CHECK (run_id <> ''),
    stopped text    NOT NULL, -- why no runner starts anything new; '' while they do
    closed  boolean NOT NULL  -- nobody can take part any more
);

-- Who takes part, or asks to. A lease is by the server's own clock.
CREATE TABLE runners (
    run_id      text        NOT NULL CHECK (run_id <> ''),
    number      integer     NOT NULL CHECK (number >= 1), -- 1 began the run
    pid         integer     NOT NULL, -- the server process of the session on which it holds the lock
    holder      text        NOT NULL, -- who that is, as JSON
    joined      boolean     NOT NULL, -- false: it asks to take part
    lease_until timestamptz NOT NULL,
    gone        text        NOT NULL CHECK (gone IN ('', 'left', 'lost')), -- one that is gone writes nothing any more
    settled     integer     NOT NULL CHECK (settled >= 0), -- transfers of the parts that it has done
    tally       bytea       NOT NULL, -- what became of them
    PRIMARY KEY (run_id, number)
);

-- The lines of the plan that are still to be carried out, in parts of which a runner claims one
-- at a time. A part is done when each of its lines is settled.
CREATE TABLE parts (
    run_id  text    NOT NULL,
    number  integer NOT NULL,
    level   integer NOT NULL CHECK (level >= 0), -- what it depends on is in parts of lower levels
    ref_ids text[]  NOT NULL,
    runner  integer,           -- who claims it; null where nobody does
    again   boolean NOT NULL,  -- somebody had it before, and may have begun it
    done    boolean NOT NULL,
    PRIMARY KEY (run_id, number)
);

CREATE INDEX parts_open ON parts (run_id, level, number) WHERE NOT done;

-- The plan that the runners carry out, where it is in no file: the bytes of a saved plan, compressed.
CREATE TABLE share_plans (
    run_id text    NOT NULL,
    number integer NOT NULL,
    data   bytea   NOT NULL,
    PRIMARY KEY (run_id, number)
);

ALTER TABLE share_plans ALTER COLUMN data SET STORAGE EXTERNAL;

-- One row an operation that has a rate limit: who reserves starts of requests locks it.
CREATE TABLE rates (
    operation text PRIMARY KEY,
    requests  integer          NOT NULL CHECK (requests >= 1),
    seconds   double precision NOT NULL CHECK (seconds > 0) -- of the window
);

-- Starts that were reserved: the service sees them before until, and so they count for a window after it.
CREATE TABLE permits (
    operation text        NOT NULL,
    until     timestamptz NOT NULL,
    starts    integer     NOT NULL CHECK (starts >= 1)
);

CREATE INDEX permits_until ON permits (operation, until);

-- Reserves at most wanted starts of an operation that the service sees within hold seconds from now, so
-- that no window has more than its rate allows; or says for how many seconds there is none. Of two rates that
-- runners have, the one that is there and fewer requests count.
CREATE FUNCTION reserve(wanted_operation text, wanted integer, most integer, span double precision, hold double precision,
    OUT granted integer, OUT wait double precision)
LANGUAGE plpgsql AS $$
DECLARE
    rate rates%ROWTYPE;
    now_is timestamptz;
    held integer;
BEGIN
    LOOP
        SELECT * INTO rate FROM rates WHERE operation = wanted_operation FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO rates VALUES (wanted_operation, most, span) ON CONFLICT DO NOTHING;
    END LOOP;
    now_is := clock_timestamp(); -- after the row is ours
    DELETE FROM permits WHERE operation = wanted_operation AND until + make_interval(secs => rate.seconds) <= now_is;
    SELECT coalesce(sum(starts), 0) INTO held FROM permits WHERE operation = wanted_operation;
    granted := greatest(0, least(wanted, least(rate.requests, most) - held));
    wait := 0;
    IF granted > 0 THEN
        INSERT INTO permits VALUES (wanted_operation, now_is + make_interval(secs => hold), granted);
    ELSE
        SELECT extract(epoch FROM min(until) + make_interval(secs => rate.seconds) - now_is) INTO wait
            FROM permits WHERE operation = wanted_operation;
    END IF;
END $$;
