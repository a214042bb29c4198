-- What external price feeds say of the prices of the chain. Kept apart: no derived row depends on it.
CREATE TABLE price_guards (
  currency_id    text PRIMARY KEY,
  external_price numeric(60,30),          -- null where no feed tells one
  source         text,                    -- host of the feed
  checked_at     timestamptz,
  deviation_pct  numeric(30,10),          -- of the chain's price, absolute
  status         text NOT NULL CHECK (status IN ('healthy', 'warning', 'rejected')),
  -- What is published instead of the derived row; null: that row itself.
  published      jsonb
);
