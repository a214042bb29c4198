/** Work that several callers share counts as work of the caller that began it. */
import { QueueFull } from './priority-lanes.ts';

/** Returns the result of another caller's work, or runs `own` if that caller found no place: this caller may still get one. */
export function orOwn<T>(shared: Promise<T>, own: () => Promise<T>): Promise<T> {
  return shared.catch((error: unknown) => {
    if (error instanceof QueueFull) return own();
    throw error;
  });
}
