-- What one of each two currencies of a basket, its own token included, was worth in the other over a UTC day, by the states of the
-- basket; a day without one has no row. Counts as `daily_trades` does.

CREATE TABLE daily_candles (
  generation UInt32,
  day        Date, -- of the chain's clock
  chain      LowCardinality(String),
  basket_id  LowCardinality(String),
  base       LowCardinality(String),
  quote      LowCardinality(String),
  open       Decimal(76, 30), -- units of quote for one of base; what held when the day began, the first one of all days its own
  high       Decimal(76, 30),
  low        Decimal(76, 30),
  close      Decimal(76, 30)
) ENGINE = MergeTree PARTITION BY generation ORDER BY (day, chain, basket_id, base, quote);
