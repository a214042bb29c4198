-- Webhooks: who is told what, where, and what became of it. pg-boss keeps its jobs in a schema of its own beside this.

CREATE TABLE webhooks (
  id                 text        PRIMARY KEY,
  chain              text        NOT NULL, -- of the identity that owns it
  identity_address   text        NOT NULL,
  url                text        NOT NULL,
  description        text        NOT NULL,
  asked              json        NOT NULL, -- {"events","chains","filter"} as registered
  confirmations      integer     NOT NULL,
  secret             text        NOT NULL, -- whsec_…: it signs, so no digest of it would do
  old_secret         text,                 -- signs beside the new one until then
  old_secret_ends_at timestamptz,
  enabled            boolean     NOT NULL DEFAULT true,
  disabled_reason    text,                 -- owner | gone | failing
  failing_since      timestamptz,          -- first failure after the last success
  held_until         timestamptz,          -- asked for by the receiver's Retry-After
  since              jsonb       NOT NULL, -- by chain: block record after which it is told
  created_at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_identity ON webhooks (identity_address, chain, created_at);

-- Next record of a chain's facts topic that is looked at for webhooks; moves with the deliveries that follow from it.
CREATE TABLE webhook_cursors (
  chain    text   PRIMARY KEY,
  position bigint NOT NULL
);

CREATE TABLE webhook_deliveries (
  id              text        PRIMARY KEY, -- webhook-id of every attempt
  serial          bigint      GENERATED ALWAYS AS IDENTITY,
  webhook_id      text        NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  kind            text        NOT NULL,
  chain           text,
  height          integer,                 -- of the block that it tells of; null for what no rewind takes back
  release_height  integer,                 -- of a held one
  body            text        NOT NULL,
  state           text        NOT NULL,    -- held | pending | delivered | failed
  reverted        boolean     NOT NULL DEFAULT false,
  reverts         text,                    -- the delivery that this one takes back
  attempts        integer     NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,             -- while pending
  attempted_at    timestamptz,
  status          integer,                 -- of the last answer
  error           text,                    -- why the last attempt failed
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook_id, serial);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (chain, release_height) WHERE state = 'held';
CREATE INDEX webhook_deliveries_by_block ON webhook_deliveries (chain, height) WHERE height IS NOT NULL AND NOT reverted;
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at) WHERE state IN ('delivered', 'failed');
