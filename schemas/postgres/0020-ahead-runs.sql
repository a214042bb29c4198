-- Which rows of ClickHouse's `prices_ahead` and `conversions_ahead` count. Each append there is a run; of a run that counts, the rows between
-- two ticks do; of a conversion that several of them hold, the row of the greatest run. A reader's snapshot of this table decides what it takes from ClickHouse.
CREATE SEQUENCE ahead_run_numbers; -- a number never comes back, so that what a crash left under one is never taken for another
CREATE TABLE ahead_runs (
  run          bigint PRIMARY KEY,
  from_tick    bigint NOT NULL,
  through_tick bigint NOT NULL,
  size         bigint NOT NULL,  -- rows when it was written: small runs are merged
  corrects     boolean NOT NULL, -- whether it may hold a conversion that an earlier run holds as well
  counts       boolean NOT NULL DEFAULT true,
  unseen_since timestamptz       -- when a later transaction found that it no longer counts: readers of older snapshots still ask for it
);
