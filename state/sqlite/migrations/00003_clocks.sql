-- An event keeps its time as the writer's clock had it: its order is its number alone, and a clock
-- that was wrong is told apart instead of being bent. The rows stay as they are. What the tables
-- refuse is changed in the schema alone, without writing a million rows anew; see "Making Other
-- Kinds Of Table Schema Changes" in SQLite's page on ALTER TABLE.

-- +goose Up

PRAGMA user_version = 3;

-- Events whose time lies more than ten minutes (state.JumpMin) before that of the event before.
CREATE TABLE jumps (
    seq     INTEGER PRIMARY KEY CHECK (seq > 1),
    back_ms INTEGER NOT NULL CHECK (back_ms > 600000)
) STRICT;

-- Where a clock was last found right.
CREATE INDEX events_clock ON events (seq) WHERE kind = 'clock';

DROP TRIGGER events_append;

-- +goose StatementBegin
CREATE TRIGGER events_append BEFORE INSERT ON events
WHEN NOT coalesce((SELECT NEW.seq = seq + 1 FROM events ORDER BY seq DESC LIMIT 1), NEW.seq = 1)
BEGIN
    SELECT RAISE(ABORT, 'the journal only grows: events follow one another in number');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_jump AFTER INSERT ON events
WHEN NEW.time_ms < (SELECT time_ms - 600000 FROM events WHERE seq = NEW.seq - 1)
BEGIN
    INSERT INTO jumps SELECT NEW.seq, time_ms - NEW.time_ms FROM events WHERE seq = NEW.seq - 1;
END;
-- +goose StatementEnd

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, '
    CHECK (attempted_ms >= intended_ms),', '') WHERE type = 'table' AND name = 'transfers';

UPDATE sqlite_schema SET sql = replace(sql, ' OR kind = ''rebound'')', ' OR kind = ''rebound''
        OR kind = ''clock'' OR kind = ''asked'')') WHERE type = 'table' AND name = 'events';

PRAGMA writable_schema = RESET;
