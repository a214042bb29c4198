import { describe, expect, it } from 'vitest';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import { CALL_TIMEOUT_MS, CHAIN } from '../../test/support/pipeline/tailer/tail-bench.ts';
import { FINALITY, followingAt, inState, quiet, useTailWorld } from '../../test/support/pipeline/tailer/tail-world.ts';

const world = useTailWorld();

describe('catching up and following', () => {
  it('copies the whole chain from genesis, each block byte for byte as it was sent', async () => {
    world.daemon.tree.extend(300, 'ÄÖ€𝄞 \\u0001');
    const tailer = world.start({ limits: { batchRecords: 32 } });
    await tailer.shows(followingAt(300));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    for (const { hash, block, time, height } of (await world.fold()).blocks) {
      expect(world.daemon.sent.get(hash)).toContain(Buffer.from(block).toString('utf8'));
      expect(time).toBe(world.daemon.tree.at(height)?.time);
    }
    expect(tailer.statuses[0]?.state).toBe('starting');
    expect(tailer.statuses.map(({ state }) => state)).toContain('catching_up');
    expect(tailer.statuses.at(-1)).toMatchObject({ targetHeight: 300, etaSeconds: 0, error: null });
    expect(tailer.statuses.at(-1)?.rate).toBeGreaterThan(0);
  });

  it('fetches small blocks in batches, or one by one if the daemon does not accept batches', async () => {
    world.daemon.tree.extend(400);
    const { fault } = world.daemon;
    const refused = world.start({ limits: { batchRecords: 50 } });
    await refused.shows(followingAt(400));
    await refused.stop();
    const together = world.daemon.requests;
    expect(together).toBeLessThan(200);
    world.daemon.tree.reorganise(10, 300);
    world.daemon.fault = (call) => (call.isBatch ? { kind: 'http', status: 400, body: 'no batches' } : fault(call));
    await world.start().shows(followingAt(690));
    expect(await world.hashes()).toEqual(world.daemonHashes());
  });

  it('follows block by block and fetches each block once', async () => {
    const tailer = world.start();
    await tailer.shows(followingAt(0));
    for (let height = 1; height <= 5; height += 1) {
      world.daemon.tree.extend(1);
      await tailer.shows(followingAt(height));
    }
    const asked = world.daemon.calls.filter(({ method }) => method === 'getblock').map(({ params }) => params[0]);
    expect(asked).toEqual(['0', ...[1, 2, 3, 4, 5].map((height) => world.daemon.tree.at(height)?.hash)]);
  });

  it('continues from the last record after a restart, without a checkpoint', async () => {
    world.daemon.tree.extend(20);
    const first = world.start();
    await first.shows(followingAt(20));
    await first.stop();
    world.daemon.tree.extend(20);
    await world.start().shows(followingAt(40));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect(await world.count()).toBe(41);
  });

  it('reports `ended` at the tip of a recording that has ended, and continues if more blocks arrive', async () => {
    let ended = false;
    world.daemon.tree.extend(3);
    const tailer = world.start({ ended: () => ended });
    await tailer.shows(followingAt(3));
    ended = true;
    await tailer.shows((status) => status.state === 'ended');
    world.daemon.tree.extend(1);
    await tailer.shows((status) => status.state === 'ended' && status.height === 4);
  });

  it('stops at once even while the daemon hangs', async () => {
    const tailer = world.start();
    await tailer.shows(followingAt(0));
    world.daemon.fault = () => ({ kind: 'delay', ms: 3_600_000 });
    await quiet(30);
    const started = performance.now();
    await tailer.stop();
    expect(performance.now() - started).toBeLessThan(CALL_TIMEOUT_MS / 2);
  });
});

describe('reorganisations', () => {
  it('follows nine blocks replaced by seven: the winner may be shorter', async () => {
    world.daemon.tree.extend(50);
    const tailer = world.start();
    await tailer.shows(followingAt(50));
    world.daemon.tree.reorganise(9, 7);
    await tailer.shows(followingAt(48));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect((await world.fold()).rewinds).toEqual([{ height: 41, fromHeight: 50 }]);
  });

  it('follows a reorganisation that happened while it was not running, as deep as finality allows', async () => {
    world.daemon.tree.extend(50);
    const first = world.start();
    await first.shows(followingAt(50));
    await first.stop();
    world.daemon.tree.reorganise(FINALITY, FINALITY + 5);
    await world.start().shows(followingAt(55));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect((await world.fold()).rewinds).toEqual([{ height: 40, fromHeight: 50 }]);
  });

  it('starts at the height of a ChainRewound that is the last record', async () => {
    world.daemon.tree.extend(20);
    const first = world.start();
    await first.shows(followingAt(20));
    await first.stop();
    const fork = world.daemon.tree.at(15) ?? world.daemon.tree.genesis;
    const writer = await world.log.openWriter('blocks', CHAIN);
    const position = writer.next;
    const rewind = { kind: 'rewind', position, height: 15, hash: fork.hash, fromHeight: 20 } as const;
    await writer.append([{ position, payload: encodeBlocksRecord(rewind) }]);
    world.daemon.tree.reorganise(5, 3);
    await world.start().shows(followingAt(18));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect((await world.fold()).rewinds).toHaveLength(1);
  });

  it('follows a branch that is switched in the middle of a catch-up', async () => {
    world.daemon.tree.extend(200);
    let asked = 0;
    world.daemon.fault = ({ method }) => {
      if (method === 'getblock') asked += 1;
      if (asked === 100) {
        asked += 1;
        world.daemon.tree.reorganise(105, 90);
      }
      return null;
    };
    await world.start({ limits: { batchRecords: 7 } }).shows(followingAt(185));
    expect(await world.hashes()).toEqual(world.daemonHashes());
  });

  it('rewinds nothing when the daemon returns to our branch while the fork is searched', async () => {
    world.daemon.tree.extend(50);
    const tailer = world.start();
    await tailer.shows(followingAt(50));
    const ours = world.daemon.tree.tip().hash;
    const other = world.daemon.tree.reorganise(6, 8).hash;
    let flips = 0;
    world.daemon.fault = ({ method }) => {
      // Returns to our branch when the tailer searches for the fork, and to the other when it asks for the tip.
      if (method === 'getblock') world.daemon.tree.setTip(ours);
      if (method === 'getbestblockhash' && flips < 5) {
        flips += 1;
        world.daemon.tree.setTip(other);
      }
      return null;
    };
    await tailer.shows(() => flips === 5);
    world.daemon.fault = () => null;
    world.daemon.tree.setTip(ours);
    await tailer.shows(followingAt(50));
    expect((await world.fold()).rewinds).toEqual([]);
    expect(await world.count()).toBe(51);
  });

  it('waits for a node that is behind on our branch, and writes nothing', async () => {
    const best = world.daemon.tree.extend(50).hash;
    const tailer = world.start();
    await tailer.shows(followingAt(50));
    for (const height of [49, 50 - FINALITY]) {
      world.daemon.tree.setTip(world.daemon.tree.at(height)?.hash ?? '');
      const status = await tailer.shows(inState('waiting', 'daemon_behind'));
      expect(status.error?.message).toContain(`height ${height}, ${50 - height} blocks behind`);
      world.daemon.tree.setTip(best);
      await tailer.shows(followingAt(50));
    }
    expect(await world.count()).toBe(51);
  });
});
