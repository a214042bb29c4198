-- What `price` derives. It folds blocks of all chains in the order of their clocks; `tick` numbers that order and is to
-- these rows what `position` is to the others: going back to a tick deletes what is above it.

CREATE TABLE generations (
  generation     integer PRIMARY KEY,
  served         boolean NOT NULL, -- exactly one row is served: a swap is one update
  description    text    NOT NULL
);
CREATE UNIQUE INDEX generations_served ON generations (served) WHERE served;
INSERT INTO generations VALUES (1, true, 'live fold');

CREATE TABLE price_ticks (
  tick           bigint  PRIMARY KEY,
  chain          text    NOT NULL,
  height         integer NOT NULL,
  hash           bytea   NOT NULL,
  clock          bigint  NOT NULL,
  facts_position bigint  NOT NULL  -- record of the facts topic that this tick folded
);
CREATE INDEX price_ticks_by_block ON price_ticks (chain, height);

-- One row a currency and tick at which it has a price or an EMA step; the newest tick of a currency is its current price.
CREATE TABLE prices (
  generation   integer NOT NULL,
  currency_id  text    NOT NULL,
  tick         bigint  NOT NULL,
  chain        text    NOT NULL, -- block of the tick
  height       integer NOT NULL,
  time         bigint  NOT NULL,
  tier         smallint NOT NULL,
  usd_price    numeric(60,30) NOT NULL,
  ema_price    numeric(60,30) NOT NULL,
  total_depth  numeric(60,30) NOT NULL,
  source_basket text,
  baskets      jsonb   NOT NULL, -- kept entries, deepest first: [{"basketId","chain","price","depth"}]
  PRIMARY KEY (generation, currency_id, tick)
);
CREATE INDEX prices_by_tick ON prices (tick);

CREATE TABLE stamps (
  generation          integer NOT NULL,
  chain               text    NOT NULL,
  txid                bytea   NOT NULL, -- key of the transfer
  vout                integer NOT NULL,
  tick                bigint  NOT NULL,
  regime              text    NOT NULL,
  regime_version      integer NOT NULL,
  price_height        integer,
  from_usd            numeric(76,38),
  to_usd              numeric(76,38),
  usd_value           numeric(76,38),
  rule                text    NOT NULL,
  priced_currency_id  text,
  priced_currency_usd numeric(60,30),
  price_basket        text,
  diverged            boolean NOT NULL,
  provisional         boolean NOT NULL,
  reason              text,
  inputs              jsonb   NOT NULL, -- both sides, prices and basket states it used
  PRIMARY KEY (generation, chain, txid, vout)
);
CREATE INDEX stamps_by_tick ON stamps (tick);

-- Backfill price of a currency from the baskets of one chain, one row when it changes and one when a day (UTC, by clock)
-- begins: the row of a day with the greatest tick is its daily price. Written only while a stamp may still need it.
CREATE TABLE backfill_prices (
  generation  integer NOT NULL,
  chain       text    NOT NULL,
  currency_id text    NOT NULL,
  tick        bigint  NOT NULL,
  day         integer NOT NULL, -- days since the epoch
  usd_price   numeric(60,30) NOT NULL,
  PRIMARY KEY (generation, chain, currency_id, tick)
);
CREATE INDEX backfill_prices_by_tick ON backfill_prices (tick);
