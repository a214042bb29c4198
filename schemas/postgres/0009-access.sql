-- Who may ask how much: allowances shared by the API processes, login, keys, tiers, usage.

-- What each process holds of a caller's allowance; locked row by row, forgotten a minute after the last use.
CREATE TABLE allowances (
  bucket  text   PRIMARY KEY,
  shares  json   NOT NULL, -- by process: see api/access/ledger.ts
  ends_at bigint NOT NULL  -- ledger time, milliseconds: nothing counts from then on
) WITH (fillfactor = 50);

-- The API processes that live, each with its reading of the ledger's clock.
CREATE TABLE allowance_holders (
  process   text        PRIMARY KEY,
  ledger_ms bigint      NOT NULL,
  seen_at   timestamptz NOT NULL
);

CREATE TABLE login_challenges (
  id               text        PRIMARY KEY,
  chain            text        NOT NULL,
  identity_address text        NOT NULL,
  host             text        NOT NULL,
  message          text        NOT NULL,
  expires_at       timestamptz NOT NULL
);

CREATE TABLE sessions (
  token_sha256     bytea       PRIMARY KEY,
  chain            text        NOT NULL,
  identity_address text        NOT NULL,
  expires_at       timestamptz NOT NULL
);

-- Of an identity, set by the operator; without a row: the lowest.
CREATE TABLE identity_tiers (
  identity_address text PRIMARY KEY,
  tier             text NOT NULL
);

CREATE TABLE api_keys (
  id               text        PRIMARY KEY,
  chain            text        NOT NULL,
  identity_address text        NOT NULL,
  name             text        NOT NULL,
  secret_sha256    bytea       NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  regenerated_at   timestamptz,
  revoked_at       timestamptz
);
CREATE INDEX api_keys_by_identity ON api_keys (identity_address, created_at);

CREATE TABLE key_usage (
  key_id   text        NOT NULL,
  minute   timestamptz NOT NULL,
  requests bigint      NOT NULL,
  credits  bigint      NOT NULL,
  refused  bigint      NOT NULL,
  PRIMARY KEY (key_id, minute)
);
CREATE INDEX key_usage_by_minute ON key_usage (minute);
