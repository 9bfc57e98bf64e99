-- The newest event that is in the rows, as every commit says: a journal, or rows, of another time than
-- the state's word on itself are told apart by it, without reading them.

ALTER TABLE meta ADD COLUMN folded bigint NOT NULL DEFAULT 1 CHECK (folded >= 1);

UPDATE meta SET folded = (SELECT max(seq) FROM events) WHERE EXISTS (SELECT 1 FROM events);
