-- The pricing rules that the rows of a generation are folded under: docs/decisions/0133-changed-pricing-rules.md.
ALTER TABLE generations
  ADD COLUMN rules       jsonb,                       -- of its newest tick; null until one is folded
  ADD COLUMN mixed_rules text[] NOT NULL DEFAULT '{}'; -- names of those that were changed between two of its ticks
