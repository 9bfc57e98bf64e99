-- Who has a group_id is asked before a record is called recorded: no two transfers have one. A state of
-- an earlier version may have some that do, so the index is not UNIQUE: what a commit writes is held
-- to it.

-- +goose Up

PRAGMA user_version = 4;

CREATE INDEX transfers_group_id ON transfers (group_id) WHERE group_id <> '';
