import { expect, it } from 'vitest';
import type { LogEnd } from './log-end.ts';
import { type TailContext, tailStep } from './tail-step.ts';

const TIP = { height: 7, hash: 'aa' };

it.each([
  { endsWhileAsked: true, state: 'following' },
  { endsWhileAsked: false, state: 'ended' },
])('at the tip, if the recording ended while the daemon was asked: $endsWhileAsked, reports $state', async (given) => {
  let hasEnded = !given.endsWhileAsked;
  const states: string[] = [];
  const context = {
    daemon: {
      async bestHash() {
        hasEnded = true; // its last blocks came after this answer
        return TIP.hash;
      },
    },
    report: { target: () => undefined, state: (state: string) => states.push(state) },
    ended: () => hasEnded,
  } as unknown as TailContext;
  expect(await tailStep(context, { tip: () => TIP } as unknown as LogEnd)).toBe('still');
  expect(states).toEqual([given.state]);
});
