-- A tier is of an identity of a chain. It was kept by i-address alone, and another chain may know the same i-address otherwise, so
-- each goes to one chain: that of the identity's first key, revoked or not, since a tier is asked for by who has a key; without keys
-- to the only chain that knows the identity; else nowhere, for the operator to grant anew.
ALTER TABLE identity_tiers ADD COLUMN chain text;
UPDATE identity_tiers t SET chain = coalesce(
  (SELECT k.chain FROM api_keys k WHERE k.identity_address = t.identity_address ORDER BY k.created_at, k.id LIMIT 1),
  (SELECT min(i.chain) FROM identities i WHERE i.identity_address = t.identity_address HAVING count(DISTINCT i.chain) = 1));
DELETE FROM identity_tiers WHERE chain IS NULL;
ALTER TABLE identity_tiers
  ALTER COLUMN chain SET NOT NULL,
  DROP CONSTRAINT identity_tiers_pkey,
  ADD PRIMARY KEY (chain, identity_address);

-- What the wallet of each daemon was last seen to hold, for `status`.
CREATE TABLE daemon_wallets (
  chain       text        NOT NULL,
  daemon      integer     NOT NULL, -- place in the configuration, from 1
  holds       text[],               -- coins, shielded addresses; empty for an empty wallet and for none; null: never answered
  answered_at timestamptz,
  tried_at    timestamptz NOT NULL,
  PRIMARY KEY (chain, daemon)
);
