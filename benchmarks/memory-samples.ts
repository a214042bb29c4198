/** Samples the resident memory of this process and its embedded ClickHouse. */
import { residentMb, withEngine } from './processes.ts';

export interface MemorySamples {
  /** Megabytes: the maximum, and the means of the second and of the last quarter of the samples. */
  stop(): { readonly peak: number; readonly early: number; readonly late: number };
}

const EVERY_MS = 250;

export function startMemorySamples(): MemorySamples {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(residentMb(withEngine(process.pid)).now), EVERY_MS);
  const mean = (from: number, to: number): number => {
    const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
    return Math.round(part.reduce((sum, value) => sum + value, 0) / Math.max(1, part.length));
  };
  return {
    stop() {
      clearInterval(timer);
      return { peak: Math.round(Math.max(0, ...samples)), early: mean(0.25, 0.5), late: mean(0.75, 1) };
    },
  };
}
