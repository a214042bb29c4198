-- Identities by their own name, whatever they stand under; the C collation folds A–Z alone, as the daemon does.
CREATE INDEX identities_by_name ON identities (chain, lower(name COLLATE "C")) WHERE to_height IS NULL;
