-- On which side of a webhook's threshold a price stood, at the ticks where that changed.
CREATE TABLE webhook_price_sides (
  webhook_id  text    NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  watch       integer NOT NULL, -- place in the webhook's list of thresholds
  tick        bigint  NOT NULL,
  hash        bytea   NOT NULL, -- of the tick's block: after a rewind the tick may be another's
  above       boolean NOT NULL,
  delivery_id text,             -- null for what was not told: where the price stood at first, a direction that is not asked for
  PRIMARY KEY (webhook_id, watch, tick, hash)
);
