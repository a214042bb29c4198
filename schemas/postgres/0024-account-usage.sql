-- What those who log in see of themselves: usage by minute, hour and day, allowances of single keys, answers of receivers.

ALTER TABLE api_keys ADD COLUMN credits_per_minute integer; -- of this key; null: that of its identity alone

CREATE TABLE account_usage (
  chain            text        NOT NULL,
  identity_address text        NOT NULL,
  step             text        NOT NULL, -- minute | hour | day
  at               timestamptz NOT NULL, -- start of the step
  key_id           text        NOT NULL, -- `session` for all sessions of the identity
  route            text        NOT NULL, -- pattern; by hour alone, else empty, and empty for what was counted before routes were
  requests         bigint      NOT NULL,
  credits          bigint      NOT NULL,
  rate_limited     bigint      NOT NULL, -- refused by the allowance of the identity
  key_limited      bigint      NOT NULL, -- by that of the key
  tier_required    bigint      NOT NULL,
  last_at          timestamptz NOT NULL,
  PRIMARY KEY (chain, identity_address, step, at, key_id, route)
);
CREATE INDEX account_usage_by_age ON account_usage (step, at);

-- The last batch of counts of each API process: one that is sent again counts once.
CREATE TABLE usage_batches (
  process    text        PRIMARY KEY,
  serial     bigint      NOT NULL,
  written_at timestamptz NOT NULL
);

INSERT INTO account_usage
SELECT k.chain, k.identity_address, s.step, date_bin(s.width, u.minute, 'epoch'::timestamptz), u.key_id, '',
  sum(u.requests), sum(u.credits), sum(u.refused), 0, 0, max(u.minute)
FROM key_usage u JOIN api_keys k ON k.id = u.key_id
  CROSS JOIN (VALUES ('minute', interval '1 minute'), ('hour', interval '1 hour'), ('day', interval '1 day')) AS s(step, width)
GROUP BY k.chain, k.identity_address, s.step, date_bin(s.width, u.minute, 'epoch'::timestamptz), u.key_id;
DROP TABLE key_usage;

ALTER TABLE webhook_deliveries
  ADD COLUMN latency_ms integer,                       -- of the last attempt, from its start to the answer's end
  ADD COLUMN answer text,                              -- beginning of the last answer's body, as text
  ADD COLUMN answer_cut boolean NOT NULL DEFAULT false;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, serial) WHERE state = 'failed';
