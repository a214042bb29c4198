/** Repeats requests whose answers change with time, at intervals while the page is visible. */
import { useEffect } from 'preact/hooks';
import type { Answer } from '../state/answers.ts';
import { isLow } from '../state/meter.ts';
import { followsStream } from '../state/place.ts';

type Polled = Pick<Answer, 'refresh' | 'isBusy'>;

/** Skips a refresh while a request is still running, as when the service is slow. */
export function poll({ refresh, isBusy }: Polled): void {
  if (!isBusy.peek()) refresh();
}

/** Does nothing with `?live=0`, which is for comparing pages, and skips refreshes when the allowance is low. */
export function useRefresh(answer: Polled, everyMs: number): void {
  useEffect(() => {
    if (!followsStream) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && !isLow.peek()) poll(answer);
    }, everyMs);
    return () => clearInterval(timer);
  }, [answer, everyMs]);
}
