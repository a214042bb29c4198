/** The largest signed 32-bit integer, the limit of heights in the stores and of the daemon's integers. */
export const INT32_MAX = 2 ** 31 - 1;
