-- The chain's money: the transparent supply at a height is the sum of changes up to it. Null in rows of a program before this.
ALTER TABLE blocks ADD COLUMN IF NOT EXISTS fee_pool Nullable(Int64) AFTER stake_amount;
ALTER TABLE blocks ADD COLUMN IF NOT EXISTS transparent_change Nullable(Int64) AFTER fee_pool;
ALTER TABLE blocks ADD COLUMN IF NOT EXISTS shielded_supply Nullable(Int64) AFTER transparent_change;
