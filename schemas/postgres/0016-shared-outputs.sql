-- Unspent outputs of several people, which the balance of each of them counts. Of a stake's guard the first is a key of the protocol.
CREATE INDEX outputs_shared ON outputs (chain)
  WHERE to_height IS NULL AND value > 0 AND cardinality(addresses) > 1 AND (kind <> 'stakeguard' OR cardinality(addresses) > 2);
