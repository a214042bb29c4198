-- One index for both questions about spent outputs: by which transaction, whose height is known, and above which height.
DROP INDEX outputs_by_spender;
DROP INDEX outputs_by_end;
CREATE INDEX outputs_by_spender ON outputs (chain, to_height, spent_txid, spent_index) WHERE to_height IS NOT NULL;
