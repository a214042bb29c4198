-- What both stores were found to hold alike: digest(h) = sha256(digest(h − 1) ‖ content(h)), the same as before where a height
-- holds nothing. Derived by the audit from each store's own rows; a rewind cuts it back like the rows themselves.

CREATE TABLE fact_digests (
  chain    text    NOT NULL,
  height   integer NOT NULL,
  digest   bytea   NOT NULL,
  position bigint  NOT NULL,
  PRIMARY KEY (chain, height)
);

-- Heights without a stamp have no row, but the last of each range that was compared.
CREATE TABLE stamp_digests (
  generation integer NOT NULL,
  chain      text    NOT NULL,
  height     integer NOT NULL,
  digest     bytea   NOT NULL,
  tick       bigint  NOT NULL, -- newest one when it was compared: undoing it may change stamps below
  PRIMARY KEY (generation, chain, height)
);
CREATE INDEX stamp_digests_by_tick ON stamp_digests (tick);
CREATE INDEX stamps_provisional ON stamps (chain, tick) WHERE provisional;

CREATE TABLE audits (
  chain      text        PRIMARY KEY,
  report     jsonb       NOT NULL, -- schemas/audit-report.ts
  updated_at timestamptz NOT NULL
);

CREATE FUNCTION digest_link(digest bytea, content text, seed bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT sha256(coalesce(digest, seed) || convert_to(content, 'UTF8')) $$;
-- Over an ordered window: the digest at each row, with `seed` before the first.
CREATE AGGREGATE digest_chain(content text, seed bytea) (SFUNC = digest_link, STYPE = bytea);
