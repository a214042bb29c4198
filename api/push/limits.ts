/** What one client of the push stream may do. */
export const MAX_SUBSCRIPTIONS = 50;
export const MAX_ADDRESSES = 1_000;
export const MAX_MESSAGE_BYTES = 16 * 1024;

const MESSAGES = 100;
const WINDOW_MS = 10_000;

export interface MessageBudget {
  /** False when this message is one too many for any window of 10 s. */
  take(now: number): boolean;
}

export function createMessageBudget(): MessageBudget {
  const times: number[] = [];
  return {
    take(now) {
      const oldest = times[0];
      if (times.length === MESSAGES && oldest !== undefined && now - oldest < WINDOW_MS) return false;
      if (times.length === MESSAGES) times.shift();
      times.push(now);
      return true;
    },
  };
}
