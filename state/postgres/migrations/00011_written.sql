-- written is the number of the transaction that wrote the newest event, and the row of that event has the same one in xmin. A
-- dump whose rows somebody loads into the tables that are there has its rows written by another transaction.
--
-- Where the column is there, rows of an earlier version were loaded into tables of this one.

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'meta'::regclass AND attname = 'written' AND NOT attisdropped) THEN
        UPDATE meta SET home = 'restored' WHERE NOT starts_with(home, 'lacks ');
    ELSE
        ALTER TABLE meta ADD COLUMN written bigint NOT NULL DEFAULT 0;
    END IF;
END $$;

UPDATE meta SET written = newest.xid FROM (SELECT xmin::text::bigint AS xid FROM events ORDER BY seq DESC LIMIT 1) newest;
