-- The pricing rules that the rows of a generation were folded under: docs/decisions/0133-changed-pricing-rules.md.
ALTER TABLE generations
  ADD COLUMN rules jsonb; -- {"name": "value"}; null until the price stage has looked at it
