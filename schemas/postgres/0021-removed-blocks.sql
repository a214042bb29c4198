-- What rewinds took away, kept under the position of their record in the log: the same log gives the same rows.

CREATE TABLE reorgs (
  chain       text    NOT NULL,
  position    bigint  NOT NULL, -- of the rewind
  height      integer NOT NULL, -- newest block that both branches have
  hash        bytea   NOT NULL,
  from_height integer NOT NULL, -- newest block before
  PRIMARY KEY (chain, position)
);
CREATE INDEX reorgs_by_height ON reorgs (chain, height, position);

CREATE TABLE removed_blocks (
  LIKE blocks,
  removed_at   bigint NOT NULL, -- position of the rewind
  transactions json,            -- as transactions_of_block() told of it
  PRIMARY KEY (chain, removed_at, height)
);
CREATE INDEX removed_blocks_by_hash ON removed_blocks (chain, hash);
CREATE INDEX removed_blocks_by_height ON removed_blocks (chain, height);

CREATE INDEX blocks_by_validation ON blocks (chain, validation_type, height);

-- Transactions in order, each with what all its outputs hold; null where none is decoded.
CREATE FUNCTION transactions_of_block(of_chain text, at_height integer) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE AS $$
  WITH made AS MATERIALIZED (SELECT txid, value, currencies FROM outputs WHERE chain = of_chain AND from_height = at_height),
  coins AS (SELECT txid, sum(value) AS value FROM made GROUP BY txid),
  tokens AS (
    SELECT txid, json_object_agg(currency, amount ORDER BY currency) AS amounts
    FROM (SELECT txid, currency, sum(amount::numeric)::text AS amount
      FROM made CROSS JOIN LATERAL jsonb_each_text(currencies) AS held(currency, amount) GROUP BY txid, currency) AS summed
    GROUP BY txid)
  SELECT json_agg(json_build_object('txid', encode(t.txid, 'hex'), 'type', t.kind, 'fee', t.fee::text, 'size', t.size,
    'value', coalesce(coins.value, 0)::text, 'currencies', tokens.amounts::text) ORDER BY t.tx_index)
  FROM transactions t LEFT JOIN coins ON coins.txid = t.txid LEFT JOIN tokens ON tokens.txid = t.txid
  WHERE t.chain = of_chain AND t.height = at_height
$$;
