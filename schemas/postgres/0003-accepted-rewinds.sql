-- What operators allow below finality: one rewind of one chain to exactly one block, for a short while.

CREATE TABLE accepted_rewinds (
  chain      text        NOT NULL,
  height     integer     NOT NULL, -- newest block that stays
  hash       bytea       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain, height, hash)
);
