import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { pause, repeatUntil, withOwnSignal } from './repeat-until.ts';

it('repeats the work, reports failures and continues, until the signal aborts', async () => {
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

it('ignores what the work throws after the abort', async () => {
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

it('ends during the pause after a failure', async () => {
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

it('a pause ends with any of its signals, and leaves no listeners on them', async () => {
  const [lasting, other] = [new AbortController(), new AbortController()];
  const listeners = () => [lasting, other].map(({ signal }) => getEventListeners(signal, 'abort').length);
  await pause(1, [lasting.signal, other.signal]);
  expect(listeners()).toEqual([0, 0]);
  const paused = pause(3_600_000, [lasting.signal, other.signal]);
  other.abort();
  await paused;
  expect(listeners()).toEqual([0, 0]);
});

it('the signal of the work aborts with that of the caller, after the limit, and when the work ends', async () => {
  const lasting = new AbortController();
  const { signal } = lasting;
  let seen: AbortSignal | undefined;
  const keep = (own: AbortSignal) => {
    seen = own;
    return pause(3_600_000, own);
  };
  await withOwnSignal(signal, 1, keep);
  expect(seen?.reason).toMatchObject({ name: 'TimeoutError' });
  await withOwnSignal(signal, null, async (own) => {
    seen = own;
  });
  expect([seen?.aborted, signal.aborted]).toEqual([true, false]);
  const working = withOwnSignal(signal, null, keep);
  lasting.abort(new Error('the end'));
  await working;
  expect(seen?.reason).toEqual(new Error('the end'));
  await withOwnSignal(signal, null, keep);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
