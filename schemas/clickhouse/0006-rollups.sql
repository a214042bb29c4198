-- Sums of whole UTC days that no rewind reaches and whose stamps are final. A day counts from the moment that Postgres says so
-- (`rolled_days`); younger days are summed from rows, and so is every day that is taken back there.

CREATE TABLE daily_trades (
  generation       UInt32,
  day              Date, -- of the import block's time
  chain            LowCardinality(String),
  basket_id        LowCardinality(String),
  from_currency_id LowCardinality(String),
  to_currency_id   LowCardinality(String),
  volume           Decimal(76, 38), -- USD of the trades that have a value; fees are 0.025 % of it
  trades           UInt64,
  amount_in        Int128, -- satoshis
  amount_out       Int128
) ENGINE = MergeTree PARTITION BY generation ORDER BY (day, chain, basket_id, from_currency_id, to_currency_id);

-- Rows of young days are found without a look at the old ones.
ALTER TABLE conversions ADD INDEX IF NOT EXISTS by_time time TYPE minmax GRANULARITY 1;
ALTER TABLE conversions MATERIALIZE INDEX by_time;

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
