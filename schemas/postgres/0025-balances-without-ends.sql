-- A balance changes with nearly every transaction, so no row of it is changed: the beginning of the next one is its end.
-- The newest of each are a small table of their own.
ALTER TABLE balances RENAME TO balance_versions;
ALTER INDEX balances_pkey RENAME TO balance_versions_pkey;
ALTER INDEX balances_by_height RENAME TO balance_versions_by_height;
DROP INDEX balances_by_end;

-- `magnitude` is how many digits a balance has. It seldom changes, and a row whose indexed columns stay is changed in its own page alone.
CREATE TABLE newest_balances (
  chain       text    NOT NULL,
  address     text    NOT NULL,
  currency_id text    NOT NULL,
  balance     bigint  NOT NULL,
  received    numeric(38) NOT NULL,
  magnitude   integer NOT NULL GENERATED ALWAYS AS (CASE WHEN balance > 0 THEN length(balance::text) ELSE 0 END) STORED
) WITH (fillfactor = 45);
INSERT INTO newest_balances (chain, address, currency_id, balance, received)
  SELECT chain, address, currency_id, balance, received FROM balance_versions WHERE to_height IS NULL;
ALTER TABLE newest_balances ADD PRIMARY KEY (chain, address, currency_id);
DROP INDEX balances_held;
CREATE INDEX balances_held ON newest_balances (chain, currency_id, magnitude DESC) WHERE magnitude > 0;
ALTER TABLE balance_versions DROP COLUMN to_height;

CREATE VIEW balances AS SELECT chain, address, currency_id, from_height,
  (SELECT next.from_height FROM balance_versions next WHERE next.chain = v.chain AND next.address = v.address
    AND next.currency_id = v.currency_id AND next.from_height > v.from_height
    ORDER BY next.chain, next.address, next.currency_id, next.from_height LIMIT 1) AS to_height,
  balance, received, position
FROM balance_versions v;
