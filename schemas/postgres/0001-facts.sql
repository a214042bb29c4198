-- Points and current state. Rows that describe a state carry the height it became true and the height it ended
-- (null while current): going back to height h deletes what began after h and reopens what ended after h.
-- Hashes and txids are bytea in display order. Amounts are satoshis. `position` is the block record they follow from.

CREATE TABLE stage_positions (
  stage    text    NOT NULL, -- derive | price
  chain    text    NOT NULL,
  position bigint  NOT NULL, -- last record of the stage's input that is in the stores
  height   integer NOT NULL,
  hash     bytea   NOT NULL,
  clock    bigint  NOT NULL, -- running maximum of block times, seconds
  PRIMARY KEY (stage, chain)
);

CREATE TABLE stage_status (
  stage      text        NOT NULL, -- tail | derive | price
  chain      text        NOT NULL,
  status     jsonb       NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (stage, chain)
);

CREATE TABLE blocks (
  chain            text    NOT NULL,
  height           integer NOT NULL,
  hash             bytea   NOT NULL,
  previous_hash    bytea,
  time             bigint  NOT NULL,
  clock            bigint  NOT NULL,
  size             integer NOT NULL,
  tx_count         integer NOT NULL,
  validation_type  text    NOT NULL,
  difficulty       text    NOT NULL, -- number token of the daemon
  bits             text    NOT NULL,
  nonce            text    NOT NULL,
  version          bigint  NOT NULL,
  merkle_root      bytea   NOT NULL,
  chain_work       bytea   NOT NULL,
  chain_stake      bytea   NOT NULL,
  reward           bigint  NOT NULL,
  miner_address    text,
  fees             bigint  NOT NULL,
  fee_pool         bigint,
  stake_txid       bytea,
  stake_address    text,
  stake_reward_address text,
  stake_source_txid bytea,
  stake_source_vout integer,
  stake_amount     bigint,
  position         bigint  NOT NULL,
  PRIMARY KEY (chain, height)
);
CREATE INDEX blocks_by_hash ON blocks (hash);
CREATE INDEX blocks_staked ON blocks (chain, height) WHERE stake_txid IS NOT NULL;

CREATE TABLE transactions (
  chain         text     NOT NULL,
  txid          bytea    NOT NULL,
  height        integer  NOT NULL,
  tx_index      integer  NOT NULL,
  kind          text     NOT NULL,
  kinds         text[]   NOT NULL,
  fee           bigint,
  size          integer  NOT NULL,
  lock_time     bigint   NOT NULL,
  expiry_height integer  NOT NULL,
  position      bigint   NOT NULL,
  PRIMARY KEY (chain, txid)
);
CREATE UNIQUE INDEX transactions_by_block ON transactions (chain, height, tx_index);

CREATE TABLE outputs (
  chain        text    NOT NULL,
  txid         bytea   NOT NULL,
  n            integer NOT NULL,
  from_height  integer NOT NULL,
  to_height    integer,
  tx_index     integer NOT NULL,
  value        bigint  NOT NULL,
  currencies   jsonb,             -- {i-address: "satoshis"}, null when none
  kind         text    NOT NULL,
  addresses    text[]  NOT NULL,
  data         json,              -- as the daemon printed it
  spent_txid   bytea,             -- null while to_height is null
  spent_index  integer,
  position     bigint  NOT NULL,
  PRIMARY KEY (chain, txid, n)
);
CREATE INDEX outputs_by_spender ON outputs (chain, spent_txid, spent_index) WHERE spent_txid IS NOT NULL;
CREATE INDEX outputs_by_height ON outputs (chain, from_height);
CREATE INDEX outputs_by_end ON outputs (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE address_activity (
  chain      text    NOT NULL,
  address    text    NOT NULL,
  height     integer NOT NULL,
  tx_index   integer NOT NULL,
  txid       bytea   NOT NULL,
  received   bigint  NOT NULL,
  sent       bigint  NOT NULL,
  currencies jsonb,              -- net {i-address: "satoshis"}, null when none
  position   bigint  NOT NULL,
  PRIMARY KEY (chain, address, height, tx_index)
);
CREATE INDEX address_activity_by_height ON address_activity (chain, height);

CREATE TABLE balances (
  chain       text    NOT NULL,
  address     text    NOT NULL,
  currency_id text    NOT NULL,
  from_height integer NOT NULL,
  to_height   integer,
  balance     bigint  NOT NULL,
  received    numeric(38) NOT NULL,
  position    bigint  NOT NULL,
  PRIMARY KEY (chain, address, currency_id, from_height)
);
CREATE INDEX balances_held ON balances (chain, currency_id, balance DESC) WHERE to_height IS NULL;
CREATE INDEX balances_by_height ON balances (chain, from_height);
CREATE INDEX balances_by_end ON balances (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE identities (
  chain                text    NOT NULL,
  identity_address     text    NOT NULL,
  from_height          integer NOT NULL,
  to_height            integer, -- equal to from_height when the same block replaced it
  tx_index             integer NOT NULL,
  vout                 integer NOT NULL,
  txid                 bytea   NOT NULL,
  name                 text    NOT NULL,
  parent               text    NOT NULL,
  fully_qualified_name text    NOT NULL,
  kind                 text    NOT NULL,
  flags                integer NOT NULL,
  timelock             bigint  NOT NULL,
  revocation_authority text    NOT NULL,
  recovery_authority   text    NOT NULL,
  primary_addresses    text[]  NOT NULL,
  minimum_signatures   integer NOT NULL,
  registered_height    integer NOT NULL,
  referral             text,
  changes              json    NOT NULL,
  state                json    NOT NULL,
  position             bigint  NOT NULL,
  PRIMARY KEY (chain, identity_address, from_height, tx_index, vout)
);
CREATE INDEX identities_current ON identities (chain, registered_height, identity_address) WHERE to_height IS NULL;
CREATE INDEX identities_by_parent ON identities (chain, parent) WHERE to_height IS NULL;
CREATE INDEX identities_by_referral ON identities (chain, referral) WHERE to_height IS NULL AND referral IS NOT NULL;
CREATE INDEX identities_by_height ON identities (chain, from_height);
CREATE INDEX identities_by_end ON identities (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE currencies (
  chain                text    NOT NULL,
  currency_id          text    NOT NULL,
  from_height          integer NOT NULL,
  to_height            integer,
  tx_index             integer NOT NULL,
  vout                 integer NOT NULL,
  txid                 bytea   NOT NULL,
  name                 text    NOT NULL,
  fully_qualified_name text    NOT NULL,
  parent               text,
  system_id            text    NOT NULL,
  currency_type        text    NOT NULL,
  options              integer NOT NULL,
  start_block          integer NOT NULL,
  definition           json    NOT NULL,
  position             bigint  NOT NULL,
  PRIMARY KEY (chain, currency_id, from_height, tx_index, vout)
);
CREATE INDEX currencies_by_height ON currencies (chain, from_height);
CREATE INDEX currencies_by_end ON currencies (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE currency_states (
  chain       text    NOT NULL,
  currency_id text    NOT NULL,
  from_height integer NOT NULL,
  to_height   integer, -- equal to from_height when the same block replaced it
  tx_index    integer NOT NULL,
  vout        integer NOT NULL,
  txid        bytea   NOT NULL,
  flags       integer NOT NULL,
  supply      bigint  NOT NULL,
  reserves    jsonb   NOT NULL, -- [{"currencyId","weight","reserves","priceInReserve"}], amounts as strings of satoshis
  live_height integer,
  state       json    NOT NULL,
  position    bigint  NOT NULL,
  PRIMARY KEY (chain, currency_id, from_height, tx_index, vout)
);
CREATE INDEX currency_states_current ON currency_states (chain, currency_id) WHERE to_height IS NULL;
CREATE INDEX currency_states_by_height ON currency_states (chain, from_height);
CREATE INDEX currency_states_by_end ON currency_states (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE transfers (
  chain                    text    NOT NULL,
  txid                     bytea   NOT NULL,
  vout                     integer NOT NULL,
  from_height              integer NOT NULL,
  to_height                integer,
  kind                     text    NOT NULL, -- convert | via | preconvert | mint | burn | send
  status                   text    NOT NULL, -- pending | exported | completed | refunded | unmatched
  flags                    integer NOT NULL,
  from_currency_id         text,
  to_currency_id           text    NOT NULL,
  via_currency_id          text,
  import_currency_id       text    NOT NULL,
  amount_in                bigint  NOT NULL,
  transfer_fee             bigint  NOT NULL,
  transfer_fee_currency_id text    NOT NULL,
  conversion_fee           bigint  NOT NULL,
  amount_out               bigint,
  destination              text,
  source                   text,
  destination_system_id    text,
  request_height           integer NOT NULL,
  request_time             bigint  NOT NULL,
  export_txid              bytea,
  export_vout              integer,
  export_height            integer,
  import_txid              bytea,
  import_height            integer,
  import_time              bigint,
  payout_vout              integer,
  reason                   text,
  position                 bigint  NOT NULL,
  PRIMARY KEY (chain, txid, vout, from_height)
);
CREATE INDEX transfers_current ON transfers (chain, request_height DESC, txid, vout) WHERE to_height IS NULL;
CREATE INDEX transfers_by_import ON transfers (import_txid) WHERE to_height IS NULL AND import_txid IS NOT NULL;
CREATE INDEX transfers_by_source ON transfers (chain, source) WHERE to_height IS NULL;
CREATE INDEX transfers_by_destination ON transfers (chain, destination) WHERE to_height IS NULL;
CREATE INDEX transfers_by_height ON transfers (chain, from_height);
CREATE INDEX transfers_by_end ON transfers (chain, to_height) WHERE to_height IS NOT NULL;

CREATE TABLE exports (
  chain                 text    NOT NULL,
  txid                  bytea   NOT NULL,
  vout                  integer NOT NULL,
  height                integer NOT NULL,
  tx_index              integer NOT NULL,
  currency_id           text    NOT NULL,
  source_system_id      text    NOT NULL,
  destination_system_id text    NOT NULL,
  flags                 integer NOT NULL,
  reward_address        text,
  transfers             jsonb   NOT NULL, -- [{"txid","vout"}] in export order
  position              bigint  NOT NULL,
  PRIMARY KEY (chain, txid, vout)
);
CREATE INDEX exports_by_height ON exports (chain, height);

CREATE TABLE imports (
  chain            text    NOT NULL,
  txid             bytea   NOT NULL,
  vout             integer NOT NULL,
  height           integer NOT NULL,
  tx_index         integer NOT NULL,
  currency_id      text    NOT NULL,
  source_system_id text    NOT NULL,
  export_txid      bytea   NOT NULL,
  export_vout      integer NOT NULL,
  flags            integer NOT NULL,
  position         bigint  NOT NULL,
  PRIMARY KEY (chain, txid, vout)
);
CREATE INDEX imports_by_height ON imports (chain, height);

CREATE TABLE rewards (
  chain    text    NOT NULL,
  address  text    NOT NULL,
  height   integer NOT NULL,
  txid     bytea   NOT NULL,
  vout     integer NOT NULL,
  kind     text    NOT NULL,
  amount   bigint  NOT NULL,
  position bigint  NOT NULL,
  PRIMARY KEY (chain, address, height, txid, vout)
);
CREATE INDEX rewards_by_height ON rewards (chain, height);
