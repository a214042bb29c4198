/** Milliseconds of the machine's monotonic clock: the same in all processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
