-- Prices and stamps beyond the line that every chain's clock has passed. Rows are only ever added; each append is a run, and which runs
-- count, and between which ticks, is said by Postgres (`ahead_runs`). Ticks of these rows come after all of the complete ones.

CREATE TABLE prices_ahead (
  run           UInt64,
  generation    UInt32,
  currency_id   LowCardinality(String),
  tick          UInt64,
  chain         LowCardinality(String),
  height        UInt32,
  time          DateTime('UTC'),
  clock         DateTime('UTC'), -- of the tick, since no table of ticks holds these
  tier          UInt8,
  usd_price     Decimal(76, 30),
  ema_price     Decimal(76, 30),
  total_depth   Decimal(76, 30),
  source_basket LowCardinality(String),
  baskets       String CODEC(ZSTD(1)),
  INDEX by_tick tick TYPE minmax GRANULARITY 1
) ENGINE = MergeTree PARTITION BY run ORDER BY (generation, currency_id, tick);

CREATE TABLE conversions_ahead (
  run              UInt64,
  generation       UInt32,
  chain            LowCardinality(String),
  txid             FixedString(64),
  vout             UInt32,
  tick             UInt64,
  kind             LowCardinality(String),
  status           LowCardinality(String),
  from_currency_id LowCardinality(String),
  to_currency_id   LowCardinality(String),
  via_currency_id  LowCardinality(String),
  basket_id        LowCardinality(String),
  amount_in        Int64,
  amount_out       Nullable(Int64),
  conversion_fee   Int64,
  source           String,
  destination      String,
  request_height   UInt32,
  import_height    UInt32,
  time             DateTime('UTC'),
  from_usd         Nullable(Decimal(76, 38)),
  to_usd           Nullable(Decimal(76, 38)),
  usd_value        Nullable(Decimal(76, 38)),
  rule             LowCardinality(String),
  regime           LowCardinality(String),
  diverged         Bool,
  provisional      Bool,
  reason           LowCardinality(String),
  INDEX by_time time TYPE minmax GRANULARITY 1
) ENGINE = MergeTree PARTITION BY run ORDER BY (generation, chain, import_height, txid, vout);
