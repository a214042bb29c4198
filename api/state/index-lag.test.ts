import { expect, it } from 'vitest';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { heightOfDaemon, isCatchingUp } from './index-lag.ts';
import type { StateWatch } from './state-watch.ts';

type Tail = Pick<StageStatus, 'height' | 'targetHeight'>;

const statusesOf = (tail?: Tail) =>
  ({
    statuses: { of: (chain: string, stage: string) => (`${chain} ${stage}` === 'vrsc tail' ? tail : undefined) },
  }) as unknown as Pick<StateWatch, 'statuses'>;

it.each<[string, boolean, number | null, Tail?]>([
  ['follows', false, 100, { height: 100, targetHeight: 100 }],
  ['is a few blocks behind', false, 95, { height: 100, targetHeight: 100 }],
  ['is further behind', true, 94, { height: 94, targetHeight: 100 }],
  ['is behind blocks that are in the log already', true, 94, { height: 100, targetHeight: null }],
  ['is ahead of the last report', false, 100, { height: 90, targetHeight: 90 }],
  ['has no block yet', true, null, { height: null, targetHeight: 100 }],
  ['has no block of a chain of six blocks', true, null, { height: null, targetHeight: 5 }],
  ['is behind a daemon of unknown height', false, 94, { height: null, targetHeight: null }],
  ['has no tailer that reports', false, 94],
])('an index that %s: catching up is %s', (_, expected, indexed, tail) => {
  expect(isCatchingUp(indexed, heightOfDaemon(statusesOf(tail), 'vrsc'))).toBe(expected);
  expect(heightOfDaemon(statusesOf(tail), 'other')).toBeNull();
});
