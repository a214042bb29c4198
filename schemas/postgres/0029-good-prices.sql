-- What was published of each currency when it was last found good: docs/decisions/0017-price-guard.md.
CREATE TABLE good_prices (
  currency_id text PRIMARY KEY,
  price       jsonb   NOT NULL, -- as `published` of price_guards
  confirmed   boolean NOT NULL  -- a feed has confirmed it
);
-- A rejected price's `published` was in earlier versions also one that never was good: only what the feed itself confirms is taken.
INSERT INTO good_prices
SELECT currency_id, published, external_price IS NOT NULL FROM price_guards
WHERE published IS NOT NULL
  AND (status <> 'rejected' OR abs((published ->> 'usdPrice')::numeric - external_price) <= external_price * 0.05);
