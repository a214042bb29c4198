-- Conversions by their USD value, and what has ended otherwise than completed or not at all: few of many.
CREATE INDEX stamps_by_value ON stamps (generation, chain, usd_value);
CREATE INDEX transfers_not_completed ON transfers (chain, status, request_height DESC, txid, vout)
  WHERE to_height IS NULL AND status <> 'completed';
