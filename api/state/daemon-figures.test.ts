/** Calls of a daemon that does not answer or refuses, by a clock that the test controls. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DaemonRpcError, DaemonTimeout } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { createDaemonFigures } from './daemon-figures.ts';

const CHAIN = { name: 'VRSC' } as ChainConfig;
const QUIET_MS = 5_000;
const WAIT_MS = 1_000;
const SILENT = new DaemonTimeout('no answer');

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A daemon whose calls the test answers. */
function asked() {
  const calls: PromiseWithResolvers<unknown>[] = [];
  const call = () => {
    const made = Promise.withResolvers<unknown>();
    calls.push(made);
    return made.promise;
  };
  const daemons = new Map([[CHAIN.name, { call } as unknown as VerusdClient]]);
  const figures = createDaemonFigures(daemons, pino({ level: 'silent' }));
  return { calls, supply: (tip: number) => figures.supply(CHAIN, tip) };
}

it('the first requests wait fully for a hanging daemon, the next ones briefly, and later ones not at all', async () => {
  const { calls, supply } = asked();
  const [first, other] = [supply(1), supply(1)];
  calls[0]?.reject(SILENT);
  await expect(first).rejects.toBe(SILENT);
  await expect(other).rejects.toBe(SILENT);
  await expect(supply(1)).rejects.toBe(SILENT);
  expect(calls.length).toBe(1);

  vi.advanceTimersByTime(QUIET_MS);
  await expect(supply(1)).rejects.toBe(SILENT);
  expect(calls.length).toBe(2);
  vi.advanceTimersByTime(WAIT_MS);
  await expect(supply(1)).rejects.toBe(SILENT);
  await expect(supply(2)).rejects.toBe(SILENT);
  expect(calls.length).toBe(2);

  calls[1]?.resolve({ total: 5 });
  await expect.poll(() => supply(1).catch(() => null), { timeout: 60_000 }).toBe(500_000_000n);
  expect(calls.length).toBe(2);
  const next = supply(2);
  calls[2]?.resolve({ total: 6 });
  expect(await next).toBe(600_000_000n);
});

it('concurrent requests all get the answer of a recovered daemon, however long ago it was silent', async () => {
  const { calls, supply } = asked();
  const first = supply(1);
  calls[0]?.reject(SILENT);
  await expect(first).rejects.toBe(SILENT);
  vi.advanceTimersByTime(1_000 * QUIET_MS);
  const all = [supply(2), supply(2)];
  calls[1]?.resolve({ total: 5 });
  expect(await Promise.all(all)).toEqual([500_000_000n, 500_000_000n]);
});

it('a refusal is an answer: at the next block the daemon is called again at once', async () => {
  const { calls, supply } = asked();
  const refused = supply(1);
  calls[0]?.reject(new DaemonRpcError(-1, 'no index', 'refused'));
  expect(await refused).toBeNull();
  const next = supply(2);
  calls[1]?.resolve({ total: 5 });
  expect(await next).toBe(500_000_000n);
});

it('a call that fails after a later one was answered does not count as silence', async () => {
  const { calls, supply } = asked();
  const older = supply(1);
  vi.advanceTimersByTime(10);
  const newer = supply(2);
  vi.advanceTimersByTime(10);
  calls[1]?.resolve({ total: 5 });
  expect(await newer).toBe(500_000_000n);
  vi.advanceTimersByTime(10);
  calls[0]?.reject(SILENT);
  await expect(older).rejects.toBe(SILENT);
  expect(await supply(2)).toBe(500_000_000n);
  const next = supply(3);
  calls[2]?.resolve({ total: 6 });
  expect(await next).toBe(600_000_000n);
});
