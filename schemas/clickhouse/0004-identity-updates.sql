-- Every state that an identity was given.

CREATE TABLE identity_updates (
  chain            LowCardinality(String),
  identity_address String,
  height           UInt32,
  tx_index         UInt32,
  vout             UInt32,
  time             DateTime('UTC'),
  txid             FixedString(64),
  name             String,
  parent           String,
  kind             LowCardinality(String),
  flags            UInt32,
  timelock         Int64,
  referral         String,
  changes          String CODEC(ZSTD(1)), -- JSON: [{"field","old","new"}]
  state            String CODEC(ZSTD(1)), -- the identity as the daemon printed it
  position         UInt64
) ENGINE = MergeTree ORDER BY (chain, identity_address, height, tx_index, vout);
