-- A transfer between two chains has two ends, one a chain, that meet under the export's key: (export_txid, export_vout,
-- export_index). Which chain is ahead does not matter: who reads joins them.
ALTER TABLE transfers
  ADD COLUMN import_system_id text,    -- other system that executes it: the end stands there; null when it is executed here
  ADD COLUMN source_system_id text,    -- other system that it came from: the request stands there; null when asked for here
  ADD COLUMN export_index     integer; -- place among the transfers of its export

CREATE INDEX transfers_departed ON transfers (export_txid, export_vout, export_index)
  WHERE to_height IS NULL AND import_system_id IS NOT NULL;
CREATE INDEX transfers_arrived ON transfers (export_txid, export_vout, export_index)
  WHERE to_height IS NULL AND source_system_id IS NOT NULL;
CREATE INDEX transfers_bridged ON transfers (chain, request_height DESC, txid, vout)
  WHERE to_height IS NULL AND (import_system_id IS NOT NULL OR source_system_id IS NOT NULL);
