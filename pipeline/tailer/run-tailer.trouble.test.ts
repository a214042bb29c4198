/** The failures that a tailer waits out, and the one that ends it. */
import { describe, expect, it } from 'vitest';
import type { ScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import { CHAIN } from '../../test/support/pipeline/tailer/tail-bench.ts';
import { followingAt, inState, useTailWorld } from '../../test/support/pipeline/tailer/tail-world.ts';

const world = useTailWorld();

describe('trouble', () => {
  it('waits for a daemon that is down, warms up, refuses the password or answers nonsense, and reports which', async () => {
    world.daemon.tree.extend(5);
    const tailer = world.start({ callTimeoutMs: 2000 });
    await tailer.shows(followingAt(5));
    const broken: [string, () => unknown, () => unknown][] = [
      ['daemon_unreachable', () => world.daemon.down(), () => world.daemon.up()],
      ['daemon_auth_failed', () => setPassword('changed'), () => setPassword('password')],
      ['daemon_warming_up', () => fault({ kind: 'error', code: -28, message: 'Loading…' }), () => heal()],
      ['daemon_rpc_error', () => fault({ kind: 'error', code: -1, message: 'injected' }), () => heal()],
      [
        'daemon_http_error',
        () => fault({ kind: 'http', status: 500, body: 'Work queue depth exceeded' }),
        () => heal(),
      ],
      ['daemon_garbage', () => fault({ kind: 'cut' }), () => heal()],
      ['daemon_garbage', () => fault({ kind: 'garbage' }), () => heal()],
      ['daemon_unreachable', () => fault({ kind: 'close' }), () => heal()],
      ['daemon_timeout', () => fault({ kind: 'delay', ms: 3000 }), () => heal()],
    ];
    for (const [code, spoil, repair] of broken) {
      await spoil();
      await tailer.shows(inState('waiting', code));
      const height = world.daemon.tree.extend(1).height;
      await repair();
      await tailer.shows(followingAt(height));
    }
    expect(await world.hashes()).toEqual(world.daemonHashes());
  });

  const fault = (what: ReturnType<ScriptedDaemon['fault']>): void => {
    world.daemon.fault = () => what;
  };
  const setPassword = (password: string): void => {
    world.daemon.password = password;
  };
  const heal = (): void => {
    world.daemon.fault = () => null;
  };

  it('refuses a block that is not the requested one', async () => {
    world.daemon.tree.extend(5);
    const lie = { height: 3, hash: 'x', previousblockhash: 'y', time: 1, tx: [] };
    world.daemon.fault = ({ method, params }) =>
      method === 'getblock' && params[0] === '3'
        ? { kind: 'http', status: 200, body: JSON.stringify({ result: lie, error: null }) }
        : null;
    const tailer = world.start();
    const status = await tailer.shows(inState('waiting', 'daemon_garbage'));
    expect(status.height).toBeLessThan(3);
    heal();
    await tailer.shows(followingAt(5));
    expect(await world.hashes()).toEqual(world.daemonHashes());
  });

  it('reads the log again after an append that may or may not have been written', async () => {
    world.daemon.tree.extend(40);
    let appends = 0;
    world.log.fault = () => {
      appends += 1;
      return appends % 3 === 0 ? 'lost' : appends % 3 === 1 ? 'written' : null;
    };
    const tailer = world.start({ limits: { batchRecords: 4 } });
    await tailer.shows(followingAt(40));
    world.daemon.tree.reorganise(4, 9);
    await tailer.shows(followingAt(45));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect(tailer.statuses.some(inState('waiting', 'log_unreachable'))).toBe(true);
  });

  it('ends with the error when another writer has taken over', async () => {
    const tailer = world.start();
    await tailer.shows(followingAt(0));
    await world.log.openWriter('blocks', CHAIN);
    world.daemon.tree.extend(1);
    await expect(tailer.done).rejects.toMatchObject({ code: 'log_writer_fenced' });
    expect(tailer.statuses.at(-1)).toMatchObject({ state: 'stopped', error: { code: 'log_writer_fenced' } });
    expect(await world.count()).toBe(1);
  });
});
