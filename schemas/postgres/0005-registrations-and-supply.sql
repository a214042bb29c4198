-- What came with a registration, and hashes by which later updates remove single values of the content.
ALTER TABLE identities ADD COLUMN registration json;   -- {"commitmentTxid","cost":{i-address: "satoshis"}}, null for updates
ALTER TABLE identities ADD COLUMN content_hashes json; -- {key: [hash of each value]}, null without content

-- The chain's money at every height; null in rows of a program before this migration.
ALTER TABLE blocks ADD COLUMN transparent_change bigint;
ALTER TABLE blocks ADD COLUMN shielded_supply bigint;
