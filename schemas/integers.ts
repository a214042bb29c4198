/** The largest 32-bit integer: what a height in the stores and an integer of the daemon can be. */
export const INT32_MAX = 2 ** 31 - 1;
