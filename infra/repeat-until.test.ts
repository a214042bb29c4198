import { expect, it } from 'vitest';
import { pause, repeatUntil } from './repeat-until.ts';

it('repeats the work, reports what fails and goes on, until the signal aborts', async () => {
  const end = new AbortController();
  const failures: unknown[] = [];
  let runs = 0;
  await repeatUntil(
    end.signal,
    async () => {
      runs += 1;
      if (runs === 2) throw new Error('once');
      if (runs === 4) end.abort();
    },
    { retryMs: 1, onError: (error) => failures.push(error) },
  );
  expect(runs).toBe(4);
  expect(failures).toEqual([new Error('once')]);
});

it('takes what the work throws after the abort for its end', async () => {
  const end = new AbortController();
  const failures: unknown[] = [];
  await repeatUntil(
    end.signal,
    async () => {
      end.abort();
      throw new Error('interrupted');
    },
    { retryMs: 60_000, onError: (error) => failures.push(error) },
  );
  expect(failures).toEqual([]);
});

it('ends in the middle of the pause after a failure', async () => {
  const end = new AbortController();
  const onError = () => void setImmediate(() => end.abort());
  await repeatUntil(end.signal, () => Promise.reject(new Error('always')), { retryMs: 3_600_000, onError });
  expect(end.signal.aborted).toBe(true);
});

it('does nothing once the signal has aborted', async () => {
  const never = () => Promise.reject(new Error('ran'));
  await repeatUntil(AbortSignal.abort(), never, { retryMs: 1, onError: (error) => expect.unreachable(String(error)) });
  await pause(3_600_000, AbortSignal.abort());
});
