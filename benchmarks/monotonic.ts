/** Milliseconds of the machine's monotonic clock, which all processes share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
