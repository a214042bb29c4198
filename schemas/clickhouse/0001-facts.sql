-- History by range and filter, and all aggregation. Only finished events; never a state that is overwritten.
-- `position` is the block record a row follows from; rows above the committed position are deleted at start.

CREATE TABLE blocks (
  chain           LowCardinality(String),
  height          UInt32,
  hash            FixedString(64),
  time            DateTime('UTC'),
  clock           DateTime('UTC'),
  size            UInt32,
  tx_count        UInt32,
  validation_type LowCardinality(String),
  difficulty      Float64,
  reward          Int64,
  miner_address   String,
  fees            Int64,
  stake_amount    Nullable(Int64),
  position        UInt64
) ENGINE = MergeTree ORDER BY (chain, height);

CREATE TABLE transactions (
  chain    LowCardinality(String),
  height   UInt32,
  tx_index UInt32,
  time     DateTime('UTC'),
  txid     FixedString(64),
  kind     LowCardinality(String),
  fee      Nullable(Int64),
  size     UInt32,
  position UInt64
) ENGINE = MergeTree ORDER BY (chain, height, tx_index);

CREATE TABLE address_deltas (
  chain       LowCardinality(String),
  address     String,
  currency_id LowCardinality(String),
  height      UInt32,
  tx_index    UInt32,
  time        DateTime('UTC'),
  txid        FixedString(64),
  received    Int64,
  sent        Int64,
  position    UInt64
) ENGINE = MergeTree ORDER BY (chain, address, currency_id, height, tx_index);

CREATE TABLE currency_states (
  chain       LowCardinality(String),
  currency_id LowCardinality(String),
  height      UInt32,
  tx_index    UInt32,
  vout        UInt32,
  time        DateTime('UTC'),
  flags       UInt32,
  supply      Int64,
  reserve_ids Array(LowCardinality(String)),
  weights     Array(Int64),
  reserves    Array(Int64),
  position    UInt64
) ENGINE = MergeTree ORDER BY (chain, currency_id, height, tx_index, vout);

CREATE TABLE reserve_snapshots (
  chain        LowCardinality(String),
  currency_id  LowCardinality(String),
  window       DateTime('UTC'),
  state_height UInt32,
  height       UInt32,
  supply       Int64,
  reserve_ids  Array(LowCardinality(String)),
  weights      Array(Int64),
  reserves     Array(Int64),
  position     UInt64
) ENGINE = MergeTree ORDER BY (chain, currency_id, window);

CREATE TABLE stakes (
  chain          LowCardinality(String),
  height         UInt32,
  time           DateTime('UTC'),
  txid           FixedString(64),
  address        String,
  reward_address String,
  amount         Int64,
  position       UInt64
) ENGINE = MergeTree ORDER BY (chain, height);
