-- Lists that are filtered by what few of many rows are.
CREATE INDEX currencies_current ON currencies (chain, from_height, currency_id) WHERE to_height IS NULL;

-- Each update of an identity, of all identities of a chain.
CREATE INDEX identities_by_kind ON identities (chain, kind, from_height, tx_index, vout);
CREATE INDEX identities_below ON identities (chain, parent, from_height, tx_index, vout);
CREATE INDEX identities_below_by_kind ON identities (chain, parent, kind, from_height, tx_index, vout);

-- By status. A height decides which of the last are unlocking: the field of a past unlock stays.
CREATE INDEX identities_revoked ON identities (chain, registered_height, identity_address)
  WHERE to_height IS NULL AND flags & 32768 <> 0;
CREATE INDEX identities_locked ON identities (chain, registered_height, identity_address)
  WHERE to_height IS NULL AND flags & 32770 = 2;
CREATE INDEX identities_unlocking ON identities (chain, timelock)
  WHERE to_height IS NULL AND flags & 32770 = 0 AND timelock > 0;

CREATE INDEX blocks_by_staker ON blocks (chain, stake_address, height) WHERE stake_txid IS NOT NULL;
