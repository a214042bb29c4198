/** Work that several callers share is of the one who began it. */
import { QueueFull } from './priority-lanes.ts';

/** The result of another's work; where that one found no place, which says nothing of this caller's places, of one's own. */
export function orOwn<T>(shared: Promise<T>, own: () => Promise<T>): Promise<T> {
  return shared.catch((error: unknown) => {
    if (error instanceof QueueFull) return own();
    throw error;
  });
}
