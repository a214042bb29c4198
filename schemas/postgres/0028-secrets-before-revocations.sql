-- Which revocations of its identity a secret was issued after: docs/decisions/0135-secrets-end-with-a-revocation.md.
ALTER TABLE api_keys ADD COLUMN after_revocation integer; -- height of the newest one known then, 0 for none; null: judged by time
ALTER TABLE sessions ADD COLUMN after_revocation integer;
CREATE INDEX identities_revocations ON identities (chain, identity_address, from_height) WHERE flags & 32768 <> 0;
