-- Beyond the line that the clocks of all chains have passed, ticks are numbered from 2^40 up: rows of `prices` and `stamps` with
-- such a tick are provisional. One row says which of them are shown; `stage_positions` ('price_ahead') has the newest block of each chain.
CREATE TABLE price_ahead (
  first_tick bigint NOT NULL, -- the oldest that the line has not passed
  next_tick  bigint NOT NULL  -- none from here on
);

-- Until now provisional rows were numbered right after the complete ones. They are made again at the next start.
DELETE FROM prices WHERE tick > (SELECT coalesce(max(tick), -1) FROM price_ticks);
DELETE FROM stamps WHERE tick > (SELECT coalesce(max(tick), -1) FROM price_ticks);
DELETE FROM stage_positions WHERE stage = 'price_ahead';
