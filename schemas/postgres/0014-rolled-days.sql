-- Up to which UTC day ClickHouse's rollups of a generation count: the greatest `day` there is; every day before it is in them
-- too. `tick` is the newest one of the moment they were built, so that undoing a tick takes back what it may stand in.
-- Whoever changes rows of a day that is rolled up deletes its row here, and those of later days.
CREATE TABLE rolled_days (
  generation integer NOT NULL REFERENCES generations ON DELETE CASCADE,
  day        integer NOT NULL, -- days since the epoch
  tick       bigint  NOT NULL,
  PRIMARY KEY (generation, day)
);
CREATE INDEX rolled_days_by_tick ON rolled_days (tick);
