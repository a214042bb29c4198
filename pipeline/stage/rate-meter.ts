/** Measures events per second over a moving window. */

export interface RateMeter {
  add(count: number): void;
  /** Returns events per second over the window, or over the time since the meter was created if that is shorter. */
  rate(): number;
}

/** `now` is a monotonic clock in milliseconds. */
export function createRateMeter(windowMs: number, now: () => number): RateMeter {
  const started = now();
  let samples: { at: number; count: number }[] = [];

  function drop(): void {
    const oldest = now() - windowMs;
    if (samples[0] && samples[0].at <= oldest) samples = samples.filter((sample) => sample.at > oldest);
  }

  return {
    add(count) {
      drop();
      samples.push({ at: now(), count });
    },
    rate() {
      drop();
      const seconds = Math.max(1000, Math.min(windowMs, now() - started)) / 1000;
      return samples.reduce((sum, sample) => sum + sample.count, 0) / seconds;
    },
  };
}
