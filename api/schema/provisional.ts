/** How an answer says that it holds what lies beyond the line that every chain's clock has passed. */
import { boolean, isoTime } from './json-schema.ts';

export const provisionalMembers = {
  provisional: {
    ...boolean,
    description: 'Whether it holds prices or values of blocks that a slower chain may still change',
  },
  provisionalSince: {
    ...isoTime,
    type: ['string', 'null'],
    description: 'Time of the first block of which it may; null when provisional is false',
  },
} as const;
