import { expect, it } from 'vitest';
import { CONVERSION_STATUSES, conversionStatus, TRANSFER_STATUSES } from './transfers.ts';

it('users see every status but exported, which is pending to them', () => {
  expect(TRANSFER_STATUSES.map(conversionStatus)).toEqual(['pending', 'pending', 'completed', 'refunded', 'unmatched']);
  expect(new Set(TRANSFER_STATUSES.map(conversionStatus))).toEqual(new Set(CONVERSION_STATUSES));
});
