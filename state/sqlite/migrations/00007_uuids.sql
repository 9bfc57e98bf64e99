-- A UUID has one spelling in the twins and destinations of the rows, whether or not it was written with its hyphens, in
-- braces or as a URN. The program writes them before this migration: SQL can't read a request.

-- +goose Up

PRAGMA user_version = 7;

-- Outcomes by a person's word: what they accepted may be another movement than was asked for.
CREATE INDEX events_told ON events (seq) WHERE kind = 'outcome' AND run_id = '' AND instr(data, '"source":"person"') > 0;
