/** A branch below finality, or a daemon of another chain, stops a tailer. */
import { describe, expect, it } from 'vitest';
import { createBlockTree } from '../../test/support/infra/verusd/block-tree.ts';
import { startScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import type { RunningTailer } from '../../test/support/pipeline/tailer/tail-bench.ts';
import { FINALITY, followingAt, inState, quiet, useTailWorld } from '../../test/support/pipeline/tailer/tail-world.ts';
import type { AcceptedRewind, TailerOptions } from './run-tailer.ts';

const world = useTailWorld();

describe('finality', () => {
  async function tooDeep(
    options: Partial<TailerOptions> = {},
  ): Promise<{ tailer: RunningTailer; ours: string; theirs: string }> {
    const ours = world.daemon.tree.extend(50).hash;
    const tailer = world.start(options);
    await tailer.shows(followingAt(50));
    const theirs = world.daemon.tree.reorganise(FINALITY + 1, 30).hash;
    await tailer.shows(inState('stopped', 'rewind_too_deep'));
    return { tailer, ours, theirs };
  }

  it('stops before a deeper rewind, writes nothing and states the remedy', async () => {
    const { tailer } = await tooDeep();
    const fork = world.daemon.tree.at(39)?.hash;
    const message = tailer.statuses.at(-1)?.error?.message;
    expect(message).toContain('since height 39');
    expect(message).toContain('remove 11 blocks, the limit (finalityDepth) is 10');
    expect(message).toContain(`verustream accept-rewind vrsc 39 ${fork}`);
    world.daemon.tree.extend(3);
    await quiet(100);
    expect(await world.count()).toBe(51);
  });

  it('stops when a node has lost final blocks, writes nothing, and continues when it has them again', async () => {
    const best = world.daemon.tree.extend(50).hash;
    const tailer = world.start();
    await tailer.shows(followingAt(50));
    for (const height of [50 - FINALITY - 1, 3, 0]) {
      world.daemon.tree.setTip(world.daemon.tree.at(height)?.hash ?? '');
      const status = await tailer.shows(inState('stopped', 'daemon_lost_blocks'));
      expect(status.error?.message).toContain(`height ${height}, ${50 - height} blocks behind`);
      world.daemon.tree.setTip(best);
      await tailer.shows(followingAt(50));
    }
    expect(await world.count()).toBe(51);
  });

  it('finds a fork far below the hashes in memory', async () => {
    world.daemon.tree.extend(400);
    const tailer = world.start();
    await tailer.shows(followingAt(400));
    world.daemon.tree.reorganise(377, 10);
    const status = await tailer.shows(inState('stopped', 'rewind_too_deep'));
    expect(status.error?.message).toContain('since height 23');
    expect(await world.count()).toBe(401);
  });

  it('continues by itself once the node is back on our branch', async () => {
    const { tailer, ours } = await tooDeep();
    world.daemon.tree.setTip(ours);
    world.daemon.tree.extend(2);
    await tailer.shows(followingAt(52));
    expect((await world.fold()).rewinds).toEqual([]);
  });

  it('stays stopped after a restart', async () => {
    const { tailer } = await tooDeep();
    await tailer.stop();
    await world.start().shows(inState('stopped', 'rewind_too_deep'));
    expect(await world.count()).toBe(51);
  });

  it('follows one rewind that the operator allowed, and only to the given block', async () => {
    let accepted: AcceptedRewind | null = null;
    const taken: AcceptedRewind[] = [];
    const takeRewind = async (rewind: AcceptedRewind) => taken.push(rewind) > 0;
    const { tailer } = await tooDeep({ acceptRewind: () => accepted, takeRewind });
    accepted = { height: 39, hash: 'f'.repeat(64) };
    await quiet(60);
    accepted = { height: 40, hash: world.daemon.tree.at(40)?.hash ?? '' };
    await quiet(60);
    expect(await world.count()).toBe(51);
    accepted = { height: 39, hash: world.daemon.tree.at(39)?.hash ?? '' };
    await tailer.shows(followingAt(69));
    expect(await world.hashes()).toEqual(world.daemonHashes());
    expect(taken).toEqual([accepted]);
    world.daemon.tree.reorganise(30, 40);
    await tailer.shows(inState('stopped', 'rewind_too_deep'));
    expect((await world.fold()).rewinds).toHaveLength(1);
  });

  it('takes the permission before it writes the rewind, so that a crash between the two leaves none for another rewind', async () => {
    const heights: number[] = [];
    let isThere = false;
    let given: AcceptedRewind | null = null;
    const takeRewind = async () => {
      heights.push(await world.count());
      return isThere;
    };
    const { tailer } = await tooDeep({ acceptRewind: () => given, takeRewind });
    given = { height: 39, hash: world.daemon.tree.at(39)?.hash ?? '' };
    await expect.poll(() => heights.length, { timeout: 10_000 }).toBeGreaterThan(0); // another process was faster
    await quiet(60);
    expect(await world.count()).toBe(51);
    isThere = true;
    await tailer.shows(followingAt(69));
    expect(new Set(heights)).toEqual(new Set([51]));
  });

  it('counts from the highest block so far: two rewinds together cannot undo final blocks', async () => {
    world.daemon.tree.extend(50);
    const tailer = world.start();
    await tailer.shows(followingAt(50));
    world.daemon.tree.reorganise(8, 1);
    await tailer.shows(followingAt(43));
    await tailer.stop();
    const restarted = world.start();
    await restarted.shows(followingAt(43));
    world.daemon.tree.reorganise(4, 2); // forks at 39, eleven below 50
    const status = await restarted.shows(inState('stopped', 'rewind_too_deep'));
    expect(status.error?.message).toContain('remove 11 blocks');
    expect((await world.fold()).rewinds).toHaveLength(1);
  });
});

describe('the wrong daemon', () => {
  it('is refused if it serves another currency, before anything is written', async () => {
    const other = await startScriptedDaemon({ name: 'VRSC', chainId: 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV' });
    const tailer = world.start({}, other);
    const status = await tailer.shows(inState('stopped', 'wrong_chain'));
    expect(status.error?.message).toContain('serves VRSC (i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV)');
    expect(status.error?.message).toContain('rootCurrency VRSCTEST');
    expect(await world.count()).toBe(0);
    await other.stop();
  });

  it('is refused if it has another genesis block, and the tailer continues when the right daemon is back', async () => {
    const first = world.start();
    await first.shows(followingAt(0));
    await first.stop();
    const other = await startScriptedDaemon({ tree: createBlockTree('another') });
    other.tree.extend(5);
    const tailer = world.start({}, other);
    const status = await tailer.shows(inState('stopped', 'wrong_chain'));
    expect(status.error?.message).toContain(world.daemon.tree.genesis.hash);
    expect(await world.count()).toBe(1);
    await tailer.stop();
    await other.stop();
    world.daemon.tree.extend(2);
    await world.start().shows(followingAt(2));
  });

  it('is noticed if it replaces the right one while the tailer runs', async () => {
    world.daemon.tree.extend(5);
    const tailer = world.start();
    await tailer.shows(followingAt(5));
    world.daemon.fault = ({ method }) =>
      method === 'getbestblockhash' || method === 'getblockchaininfo'
        ? null
        : { kind: 'error', code: -8, message: 'Block height out of range' };
    const tip = world.daemon.tree.tip();
    world.daemon.tree.setTip(world.daemon.tree.grow(world.daemon.tree.genesis.hash, 9).hash);
    const status = await tailer.shows(inState('stopped', 'wrong_chain'));
    expect(status.height).toBe(5);
    world.daemon.fault = () => null;
    world.daemon.tree.setTip(tip.hash);
    await tailer.shows(followingAt(5));
  });
});
