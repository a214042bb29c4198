-- Conversions by their USD value, by what became of them where that is not the usual, and by the time of the request: few of many.
CREATE INDEX stamps_by_value ON stamps (generation, chain, usd_value);
CREATE INDEX transfers_not_completed ON transfers (chain, status, request_height DESC, txid, vout)
  WHERE to_height IS NULL AND status <> 'completed';
CREATE INDEX transfers_by_time ON transfers (chain, request_time) WHERE to_height IS NULL;
