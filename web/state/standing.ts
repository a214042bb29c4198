/** Requests the reader's remaining credits when no other answer has reported them. */
import { effect } from '@preact/signals';
import { call } from '../calls.ts';
import { ask } from './answers.ts';
import { allowance } from './meter.ts';
import { session } from './session.ts';

/** The answers of most views report the credits within this time. */
const PATIENCE_MS = 2_000;

export function watchStanding(): void {
  effect(() => {
    if (session.value === null) return undefined;
    const look = () => {
      if (allowance.peek() === null) ask(call('/api/usage/now'));
    };
    const timer = setTimeout(look, PATIENCE_MS);
    return () => clearTimeout(timer);
  });
}
