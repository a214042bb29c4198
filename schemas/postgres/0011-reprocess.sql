-- Generations beside the served one: docs/decisions/0018-reprocess.md.

CREATE SEQUENCE generation_numbers START 2; -- a number never comes back, so that no tag of an answer means two things
ALTER TABLE generations
  -- Ranges stamped otherwise than the cutover says, the last one counts: [{"regime","from","to","chains"}]
  ADD COLUMN regimes jsonb NOT NULL DEFAULT '[]';

-- A generation that is being made, and how far; one without a row here is written by every batch of the live fold.
CREATE TABLE reprocessing (
  generation integer PRIMARY KEY REFERENCES generations ON DELETE CASCADE,
  priced     bigint  NOT NULL DEFAULT -1, -- newest tick whose prices are there
  stamped    bigint  NOT NULL DEFAULT -1, -- newest tick whose conversions are in ClickHouse
  copied     bigint  NOT NULL DEFAULT -1, -- newest tick whose stamps are in Postgres
  undone     bigint  NOT NULL DEFAULT 0   -- goes up with every rewind: what was read before it no longer counts
);
