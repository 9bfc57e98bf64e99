-- A UUID has one spelling in the twins and destinations of the rows, whether or not it was written with its hyphens, in
-- braces or as a URN. The program writes them after this migration, in its transaction: SQL can't read a request.

-- Outcomes by a person's word: what they accepted may be another movement than was asked for.
CREATE INDEX IF NOT EXISTS events_told ON events (seq) WHERE kind = 'outcome' AND run_id = '' AND position('"source":"person"'::bytea IN data) > 0;
