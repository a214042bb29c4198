/** A daemon that fails and returns again and again, behind a whole service: every serving process changes once to down, once to up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WATCH_TIMING } from '../../infra/verusd/daemon-watch.ts';
import type { Faults } from '../../recordings/player/faults.ts';
import { type RunningService, startService } from './running-service.ts';

/** All times of health pass faster by this factor; those of the tailer do not. */
const SPEED = 3;
const STRETCH_MS = 3_000 / SPEED;
const STRETCHES = 20;
const ASK_MS = 20;

let service: RunningService;
beforeAll(async () => {
  service = await startService({
    startHeight: 60,
    health: { everyMs: 20, now: () => performance.now() * SPEED },
    daemonTiming: { everyMs: WATCH_TIMING.everyMs / SPEED, timeoutMs: WATCH_TIMING.timeoutMs / SPEED },
  });
  await service.settled(true);
});
afterAll(() => service?.stop());

async function ready(url = service.url): Promise<{ status: number; codes: string[] }> {
  const answer = await fetch(`${url}/api/health/ready?chain=vrsc`);
  const { reasons } = (await answer.json()) as { reasons: { code: string }[] };
  return { status: answer.status, codes: reasons.map(({ code }) => code) };
}

const DIES: Faults = { closeRate: 1 };
/** Calls of this stretch are never answered. */
const HANGS: Faults = { timeoutRate: 1 };
/** The tailer has given up its unanswered calls by then. */
const LATE_MS = 12_000;

it('a daemon dies, hangs and returns every 3 s for a minute', async () => {
  await expect.poll(ready).toEqual({ status: 200, codes: [] });
  const seen: number[] = [];
  const watching = new AbortController();
  const asking = (async () => {
    while (!watching.signal.aborted) {
      const { status } = await ready();
      if (seen.at(-1) !== status) seen.push(status);
      await sleep(ASK_MS);
    }
  })();
  for (let stretch = 0; stretch < STRETCHES; stretch += 1) {
    service.node.setFaults([DIES, HANGS, {}][stretch % 3] as Faults);
    await sleep(STRETCH_MS);
  }
  service.node.setFaults({});
  expect(seen).toEqual([200, 503]);
  await expect.poll(() => seen, { timeout: 60_000 }).toEqual([200, 503, 200]);
  await sleep(LATE_MS);
  watching.abort();
  await asking;
  expect(seen).toEqual([200, 503, 200]);
});

it('a dead daemon is reported by a process that only serves, too, which reads its status from Postgres', async () => {
  const beside = await service.startSecondApi();
  const readiness = () => ready(`http://127.0.0.1:${beside.port}`);
  await expect.poll(readiness).toEqual({ status: 200, codes: [] });
  service.node.setFaults(DIES);
  await expect.poll(readiness).toEqual({ status: 503, codes: ['daemon_unreachable'] });
  service.node.setFaults({ wrongAuth: true });
  await expect.poll(readiness).toEqual({ status: 503, codes: ['daemon_auth_failed'] });
  service.node.setFaults({});
  await expect.poll(readiness, { timeout: 90_000 }).toEqual({ status: 200, codes: [] });
  await beside.close();
});
