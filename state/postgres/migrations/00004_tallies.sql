-- What became of the transfers that a runner settled is written in pieces, each of them once; they are
-- added up at the end of the run. One row that has it all was written anew with every part, and it grows
-- with each transfer of which a lookup said something new.

CREATE TABLE tallies (
    run_id text    NOT NULL,
    runner integer NOT NULL,
    number integer NOT NULL CHECK (number >= 0), -- 0: what was settled before the run was opened
    data   bytea   NOT NULL,
    PRIMARY KEY (run_id, runner, number),
    FOREIGN KEY (run_id, runner) REFERENCES runners ON DELETE CASCADE
);

ALTER TABLE runners DROP COLUMN tally;
