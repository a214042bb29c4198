/** Seed of all random test inputs. Fixed, so that a change that passed once passes again; `npm run soak` uses other seeds. */
export const SEED = Number(process.env.TEST_SEED ?? 1);
if (!Number.isSafeInteger(SEED)) throw new RangeError(`TEST_SEED is ${process.env.TEST_SEED}; it must be an integer.`);
