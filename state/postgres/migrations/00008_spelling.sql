-- Twins and destinations of the rows are in one spelling of assets and UUIDs. The program writes them
-- after this migration, in its transaction: SQL can't read a request.

SELECT;
