-- A made transfer may stand on what a list says instead of a record: it has a group_id, and no
-- record_id. The rows stay as they are.

DO $$
DECLARE
    rule record;
BEGIN
    FOR rule IN
        SELECT conname FROM pg_constraint
        WHERE conrelid = 'transfers'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) ~ 'record_id IS (NOT )?NULL'
            AND pg_get_constraintdef(oid) !~ 'record_status'
    LOOP
        EXECUTE format('ALTER TABLE transfers DROP CONSTRAINT %I', rule.conname);
    END LOOP;
END $$;

-- A made transfer has its record; in place of it, one that is adopted or unverified may have the
-- group_id of a list. One that was not made, or perhaps not, has neither. A request is in force,
-- except where a record, or a line of a list, was imported without one.
ALTER TABLE transfers
    ADD CONSTRAINT transfers_made CHECK (status NOT IN (3, 4, 5) OR record_id IS NOT NULL OR (status <> 3 AND group_id <> '')),
    ADD CONSTRAINT transfers_not_made CHECK (status NOT IN (1, 2, 6) OR (record_id IS NULL AND group_id = '')),
    ADD CONSTRAINT transfers_request CHECK (intent_seq > 0 OR record_id IS NOT NULL OR group_id <> '' OR status = 8);
