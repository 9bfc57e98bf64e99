-- home says which tables these are: of which server, in which database. A dump that somebody restores has the home of the
-- tables that it was taken from, and lacks what was written to those afterwards. The program fills it in this transaction.

ALTER TABLE meta ADD COLUMN home text NOT NULL DEFAULT '';
