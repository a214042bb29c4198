/**
 * Why the index stands still, from /api/health/ready. Requested only while there is a sign of a standstill, since each request costs
 * credits.
 */
import { computed, signal } from '@preact/signals';
import { type AnswerOf, call } from '../calls.ts';
import { type Answer, ask } from './answers.ts';
import { streamState } from './live.ts';
import { isLow } from './meter.ts';
import { place } from './place.ts';
import { spanOfBlocks } from './service.ts';
import { tips } from './tips.ts';

type Reason = AnswerOf<'/api/health/ready'>['reasons'][number];

const FIRST_MS = 5_000;
const EVERY_MS = 20_000;
/** The page looks for a reason when blocks are this many target times late. */
const LATE_BLOCKS = 10;

const readiness = signal<Answer<'/api/health/ready'> | null>(null);

/** Why the chain of this view stands still; any chain if the view has none. */
export const standstill = computed<Reason | null>(() => {
  const reasons = readiness.value?.shown.value?.data.reasons ?? [];
  const here = place.value?.parts.chain;
  return (
    reasons.find(({ chain, goneSince }) => goneSince === null && (chain === null || (here ?? chain) === chain)) ?? null
  );
});

function isLate(): boolean {
  return Object.entries(tips.value).some(
    ([chain, { time }]) => time !== null && Date.now() - time > spanOfBlocks(chain, LATE_BLOCKS),
  );
}

export function watchStandstill(): void {
  const look = () => {
    const isHinted = streamState.value !== 'live' || standstill.value !== null || isLate();
    if (isHinted && !document.hidden && !isLow.value) readiness.value = ask(call('/api/health/ready'));
  };
  setTimeout(look, FIRST_MS);
  setInterval(look, EVERY_MS);
}
