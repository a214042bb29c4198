/** Heartbeats to many quiet clients are due at the same time, and must not hold up other work. */
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { OPEN_TRANSPORT } from '../../test/support/api/push/open-transport.ts';
import { watchLoopTurns } from '../../test/support/infra/loop-turns.ts';
import { createPush, type PushOptions } from './push.ts';
import type { Transport } from './transport.ts';

const CLIENTS = 1_000;
/** All heartbeats together take a fifth of a second. */
const SEND_MS = 0.2;
const MOST_IN_A_TURN = CLIENTS / 4;

it('writes the heartbeats of many clients in many turns, and each client gets its own', async () => {
  const options: Pick<PushOptions, 'config' | 'logger' | 'heartbeatMs' | 'graceMs'> = {
    config: { chains: [] },
    logger: pino({ level: 'silent' }),
    heartbeatMs: 50,
    graceMs: 600_000,
  };
  const push = await createPush({ names: {}, watch: {}, topics: {}, ...options } as unknown as PushOptions);
  onTestFinished(() => push.close());
  let sentInTurn = 0;
  let mostInTurn = 0;
  const turns = watchLoopTurns(() => {
    sentInTurn = 0;
  });
  onTestFinished(() => turns.stop());
  const beaten = new Set<number>();
  for (let client = 0; client < CLIENTS; client++) {
    const transport: Transport = {
      ...OPEN_TRANSPORT,
      send(_json, type) {
        if (type !== 'heartbeat') return true;
        for (const end = performance.now() + SEND_MS; performance.now() < end; );
        beaten.add(client);
        sentInTurn += 1;
        mostInTurn = Math.max(mostInTurn, sentInTurn);
        return true;
      },
    };
    push.connect(transport, {}, push.shares.open('192.0.2.1'));
  }
  await vi.waitFor(() => expect(beaten.size).toBe(CLIENTS), { timeout: 20_000, interval: 20 });
  expect(mostInTurn).toBeLessThan(MOST_IN_A_TURN);
});
