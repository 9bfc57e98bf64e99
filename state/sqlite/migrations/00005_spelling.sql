-- Twins and destinations of the rows are in one spelling of assets and UUIDs. The program writes them
-- before this migration: SQL can't read a request.

-- +goose Up

PRAGMA user_version = 5;
