-- Display names of destinations are data of persons: they stand here and in no event, so that they can
-- be removed while the journal stays as it is. A name came with an intent and has its number.

CREATE TABLE names (
    seq    bigint PRIMARY KEY CHECK (seq > 1),
    ref_id text   NOT NULL CHECK (ref_id <> ''),
    name   text   NOT NULL CHECK (length(name) BETWEEN 1 AND 140) -- transfer.DisplayNameMax
);

ALTER TABLE events DROP CONSTRAINT events_kind;
ALTER TABLE events ADD CONSTRAINT events_kind
    CHECK (kind IN ('created', 'begun', 'intent', 'outcome', 'ended', 'unlocked', 'rebound', 'clock', 'asked', 'erased')) NOT VALID;
