-- The sandbox's ledger. Amounts are decimals as text: SQLite has no exact ones.

CREATE TABLE ledger (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- A transfer can only be committed together with both of its legs.
CREATE TABLE transfers (
  seq              INTEGER NOT NULL PRIMARY KEY,
  group_id         TEXT    NOT NULL,
  ref_id           TEXT,
  forgotten        INTEGER NOT NULL DEFAULT 0,   -- 0 while ref_id is protected, then seq
  operation        TEXT    NOT NULL CHECK (operation IN ('internal', 'platform')),
  fingerprint      BLOB    NOT NULL CHECK (length(fingerprint) = 32),
  asset            TEXT    NOT NULL CHECK (asset <> ''),
  amount           TEXT    NOT NULL CHECK (amount <> ''),
  failed           INTEGER NOT NULL CHECK (failed IN (0, 1)),
  created_ms       INTEGER NOT NULL,
  pending_until_ms INTEGER NOT NULL,             -- 0 where it was never pending in time
  pending_lookups  INTEGER NOT NULL CHECK (pending_lookups >= 0),
  debit            TEXT    NOT NULL DEFAULT 'DEBIT'  CHECK (debit = 'DEBIT'),
  credit           TEXT    NOT NULL DEFAULT 'CREDIT' CHECK (credit = 'CREDIT'),
  FOREIGN KEY (seq, debit)  REFERENCES legs (seq, side) DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (seq, credit) REFERENCES legs (seq, side) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- One transfer a protected ref_id; the same index serves the lookup.
CREATE UNIQUE INDEX transfers_ref_id ON transfers (ref_id, forgotten);

CREATE TABLE legs (
  seq         INTEGER NOT NULL REFERENCES transfers (seq),
  side        TEXT    NOT NULL CHECK (side IN ('DEBIT', 'CREDIT')),
  id          TEXT    NOT NULL,
  profile_id  TEXT    NOT NULL,
  identity_id TEXT    NOT NULL,
  account_id  TEXT    NOT NULL,
  asset       TEXT    NOT NULL,
  amount      TEXT    NOT NULL,
  metadata    TEXT    NOT NULL,                  -- a JSON object, or ''
  PRIMARY KEY (seq, side)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER legs_balance BEFORE INSERT ON legs
WHEN NOT EXISTS (SELECT 1 FROM transfers t WHERE t.seq = new.seq AND t.asset = new.asset AND t.amount = new.amount)
BEGIN
  SELECT RAISE(ABORT, 'a leg differs from its transfer');
END;

CREATE TRIGGER legs_only_grow_update BEFORE UPDATE ON legs
BEGIN
  SELECT RAISE(ABORT, 'a ledger only grows');
END;

CREATE TRIGGER legs_only_grow_delete BEFORE DELETE ON legs
BEGIN
  SELECT RAISE(ABORT, 'a ledger only grows');
END;

-- What was credited less what was debited, opening balances apart.
CREATE TABLE balances (
  profile_id TEXT NOT NULL,
  asset      TEXT NOT NULL,
  net        TEXT NOT NULL,
  PRIMARY KEY (profile_id, asset)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
