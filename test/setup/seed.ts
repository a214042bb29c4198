/** One seed for everything that tests draw: fixed, so that a change that passes once passes again; `npm run soak` draws others. */
export const SEED = Number(process.env.TEST_SEED ?? 1);
if (!Number.isSafeInteger(SEED)) throw new RangeError(`TEST_SEED is ${process.env.TEST_SEED}; it must be an integer.`);
