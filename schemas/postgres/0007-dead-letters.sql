-- Parts of blocks that could not be decoded, and what operators ask to be derived again.

CREATE TABLE dead_letters (
  chain    text    NOT NULL,
  height   integer NOT NULL,
  ordinal  integer NOT NULL, -- place among those of its block
  scope    text    NOT NULL, -- block | transaction | input | output
  txid     bytea,            -- null for a block, and where it is not readable
  n        integer,          -- of the input or output
  code     text    NOT NULL, -- docs/errors.md
  message  text    NOT NULL,
  payload  text,             -- JSON; null where it is large or the whole block: the log's record at `position` holds it
  position bigint  NOT NULL,
  PRIMARY KEY (chain, height, ordinal)
);

-- Kept when they are done: what was answered before one may read otherwise after it.
CREATE TABLE redrives (
  id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain    text        NOT NULL,
  height   integer     NOT NULL, -- first block that is derived again
  state    text        NOT NULL DEFAULT 'asked', -- asked | taken_back (stores, not yet the facts topic) | done
  asked_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX redrives_open ON redrives (chain) WHERE state <> 'done';
