ALTER TABLE conversions ADD INDEX IF NOT EXISTS conversions_by_tick tick TYPE minmax GRANULARITY 1;
ALTER TABLE prices ADD INDEX IF NOT EXISTS prices_by_tick tick TYPE minmax GRANULARITY 1;

-- Work tables of `reprocess`, emptied when a generation is ready.

-- What each side of the conversions of a tick is and is worth by the regime of their block.
CREATE TABLE stamp_prices (
  generation      UInt32,
  tick            UInt64,
  currency_id     LowCardinality(String),
  regime          LowCardinality(String),
  usd_per_satoshi Nullable(Decimal(76, 38)), -- the price of 30 decimals divided by 10^8: the same digits
  price_basket    LowCardinality(String),
  is_anchor       Bool,
  is_native       Bool,
  is_basket       Bool,
  limits          LowCardinality(String), -- configured ones of the currency, as JSON
  is_outside      Bool, -- of these
  inputs          String CODEC(ZSTD(1)) -- of a stamp with this side alone, as JSON
) ENGINE = MergeTree PARTITION BY generation ORDER BY (tick, currency_id);

-- Medians that backfill prices are held to, by the UTC day of a conversion.
CREATE TABLE stamp_bounds (
  generation   UInt32,
  chain        LowCardinality(String),
  currency_id  LowCardinality(String),
  day          Int32, -- since the epoch
  twice_median Decimal(76, 30),
  days         UInt8
) ENGINE = MergeTree PARTITION BY generation ORDER BY (chain, currency_id, day);
