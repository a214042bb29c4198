/** Work that several callers share counts as that of the caller who began it. */
import { QueueFull } from './priority-lanes.ts';

/** The result of another caller's work, or of one's own where that caller found no place: this caller may still have one. */
export function orOwn<T>(shared: Promise<T>, own: () => Promise<T>): Promise<T> {
  return shared.catch((error: unknown) => {
    if (error instanceof QueueFull) return own();
    throw error;
  });
}
