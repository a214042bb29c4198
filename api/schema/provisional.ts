/** Members that indicate that an answer contains data beyond the line that every chain's clock has passed. */
import { boolean, isoTime } from './json-schema.ts';

export const provisionalMembers = {
  provisional: {
    ...boolean,
    description: 'Whether the answer contains prices or values of blocks that a slower chain may still change',
  },
  provisionalSince: {
    ...isoTime,
    type: ['string', 'null'],
    description: 'Time of the first block whose prices or values may still change; null when provisional is false',
  },
} as const;
