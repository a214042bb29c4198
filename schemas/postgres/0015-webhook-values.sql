-- Webhooks that ask by value are told by the topic of stamps, which has a cursor and rewinds of its own.

ALTER TABLE webhook_cursors ADD COLUMN topic text NOT NULL DEFAULT 'facts';
ALTER TABLE webhook_cursors DROP CONSTRAINT webhook_cursors_pkey, ADD PRIMARY KEY (topic, chain);
ALTER TABLE webhook_deliveries ADD COLUMN topic text NOT NULL DEFAULT 'facts'; -- that the event comes from, and that takes it back
