-- Written by `price`. `tick` is to these rows what `position` is to the others.

CREATE TABLE prices (
  generation    UInt32,
  currency_id   LowCardinality(String),
  tick          UInt64,
  chain         LowCardinality(String),
  height        UInt32,
  time          DateTime('UTC'),
  tier          UInt8,
  usd_price     Decimal(76, 30),
  ema_price     Decimal(76, 30),
  total_depth   Decimal(76, 30),
  source_basket LowCardinality(String),
  baskets       String CODEC(ZSTD(1)) -- kept entries, deepest first, as JSON: [{"basketId","chain","price","depth"}]
) ENGINE = MergeTree PARTITION BY generation ORDER BY (currency_id, tick);

-- A settled conversion with its stamp: a finished event.
CREATE TABLE conversions (
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
  time             DateTime('UTC'), -- of the import block
  from_usd         Nullable(Decimal(76, 38)),
  to_usd           Nullable(Decimal(76, 38)),
  usd_value        Nullable(Decimal(76, 38)),
  rule             LowCardinality(String),
  regime           LowCardinality(String),
  diverged         Bool,
  provisional      Bool,
  reason           LowCardinality(String)
) ENGINE = MergeTree PARTITION BY generation ORDER BY (chain, import_height, txid, vout);
