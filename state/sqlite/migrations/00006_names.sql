-- Display names of destinations are data of persons: they stand here and in no event, so that they can
-- be removed while the journal stays as it is. A name came with an intent and has its number.

-- +goose Up

PRAGMA user_version = 6;

CREATE TABLE names (
    seq    INTEGER PRIMARY KEY CHECK (seq > 1),
    ref_id TEXT    NOT NULL CHECK (ref_id <> ''),
    name   TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 140) -- transfer.DisplayNameMax
) STRICT;

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, ' OR kind = ''asked'')', ' OR kind = ''asked''
        OR kind = ''erased'')') WHERE type = 'table' AND name = 'events';

PRAGMA writable_schema = RESET;
