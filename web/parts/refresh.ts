/** Requests what changes by the clock again from time to time, while the page is visible. */
import { useEffect } from 'preact/hooks';
import type { Answer } from '../state/answers.ts';
import { isLow } from '../state/meter.ts';
import { followsStream } from '../state/place.ts';

type Polled = Pick<Answer, 'refresh' | 'isBusy'>;

/** By a timer: where the service is slow, it waits for what is under way. */
export function poll({ refresh, isBusy }: Polled): void {
  if (!isBusy.peek()) refresh();
}

/** Not for who compares (`?live=0`), and not when little is left of the allowance. */
export function useRefresh(answer: Polled, everyMs: number): void {
  useEffect(() => {
    if (!followsStream) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && !isLow.peek()) poll(answer);
    }, everyMs);
    return () => clearInterval(timer);
  }, [answer, everyMs]);
}
