import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import { createBlockTree, type TreeBlock } from '../../test/support/infra/verusd/block-tree.ts';
import { createFaultyLog, type FaultyLog } from '../../test/support/pipeline/tailer/faulty-log.ts';
import { foldBlocks } from '../../test/support/pipeline/tailer/fold-blocks.ts';
import type { FetchedBlock } from './fetched-block.ts';
import { type LogEnd, openLogEnd } from './log-end.ts';

const DEPTH = 6;
const open = (log: FaultyLog): Promise<LogEnd> => openLogEnd(log, 'vrsc', DEPTH);

const logs: FaultyLog[] = [];

async function newLog(): Promise<FaultyLog> {
  const log = await createFaultyLog();
  logs.push(log);
  return log;
}

afterEach(async () => {
  for (const log of logs.splice(0)) await log.remove();
});

function fetched({ hash, height, previousHash, time }: TreeBlock): FetchedBlock {
  return { hash, height, previousHash, time, bytes: Buffer.from(hash) };
}

function line(tree: ReturnType<typeof createBlockTree>, from: number): FetchedBlock[] {
  const blocks: FetchedBlock[] = [];
  for (let height = from; height <= tree.tip().height; height += 1)
    blocks.push(fetched(tree.at(height) ?? tree.genesis));
  return blocks;
}

describe('openLogEnd', () => {
  it('has no tip in an empty partition', async () => {
    const end = await open(await newLog());
    expect(end.tip()).toBeNull();
    expect(await end.hashAt(0)).toBeNull();
  });

  it('does not take a log for empty whose records cannot be read for a moment', async () => {
    const log = await newLog();
    const tree = createBlockTree();
    await (await open(log)).append([fetched(tree.genesis)]);
    const away = { ...log, last: async () => null };
    await expect(open(away)).rejects.toMatchObject({ code: 'log_unreachable' });
    expect((await open(log)).tip()).toMatchObject({ height: 0 });
  });

  it('knows the same after reopening as while writing, for any history, at any height', async () => {
    const step = fc.oneof(
      fc.record({ depth: fc.constant(0), length: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ depth: fc.integer({ min: 1, max: 12 }), length: fc.integer({ min: 1, max: 14 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const tree = createBlockTree();
        const log = await newLog();
        const end = await open(log);
        await end.append([fetched(tree.genesis)]);
        for (const { depth, length } of steps) {
          const fork = tree.at(Math.max(0, tree.tip().height - depth)) ?? tree.genesis;
          const forks = fork !== tree.tip();
          tree.setTip(tree.grow(fork.hash, length).hash);
          const [first, ...rest] = line(tree, fork.height + 1);
          if (!first) throw new Error('a branch without blocks');
          if (forks) await end.switchBranch(fork, first);
          await end.append(forks ? rest : [first, ...rest]);
        }
        const anew = await open(log);
        expect(anew.tip()).toEqual(end.tip());
        for (let height = 0; height <= tree.tip().height; height += 1) {
          expect(await anew.hashAt(height)).toBe(tree.at(height)?.hash);
          expect(await end.hashAt(height)).toBe(tree.at(height)?.hash);
        }
        expect(await anew.hashAt(tree.tip().height + 1)).toBeNull();
        const { blocks } = foldBlocks(await log.blocks('vrsc'));
        expect(blocks.map(({ hash }) => hash)).toEqual(line(tree, 0).map(({ hash }) => hash));
        expect(anew.highest()).toBe(end.highest());
      }),
      { numRuns: 40 },
    );
  });

  it('keeps the highest height of the chain over a restart', async () => {
    const tree = createBlockTree();
    const log = await newLog();
    let end = await open(log);
    tree.extend(50);
    await end.append(line(tree, 0));
    tree.reorganise(4, 1);
    await end.switchBranch(tree.at(46) ?? tree.genesis, fetched(tree.tip()));
    end = await open(log);
    expect(end.highest()).toBe(50);
    // An accepted rewind below finality restarts the count.
    tree.reorganise(40, 1);
    await end.switchBranch(tree.at(7) ?? tree.genesis, fetched(tree.tip()));
    expect(end.highest()).toBe(8);
    end = await open(log);
    expect(end.highest()).toBe(8);
    // This also applies right after an ordinary rewind: 60 was the highest height, 57 the abandoned tip.
    tree.extend(52);
    await end.append(line(tree, 9));
    tree.reorganise(4, 1);
    await end.switchBranch(tree.at(56) ?? tree.genesis, fetched(tree.tip()));
    tree.reorganise(DEPTH - 2, 1);
    await end.switchBranch(tree.at(59 - DEPTH) ?? tree.genesis, fetched(tree.tip()));
    expect(end.highest()).toBe(60 - DEPTH);
    expect((await open(log)).highest()).toBe(60 - DEPTH);
  });

  it('reads one record for a height far below, and one more for each rewind in between', async () => {
    const tree = createBlockTree();
    const log = await newLog();
    const end = await open(log);
    tree.extend(500);
    await end.append(line(tree, 0));
    for (let i = 0; i < 3; i += 1) {
      tree.reorganise(2, 3);
      const [first, ...rest] = line(tree, tree.tip().height - 2);
      await end.switchBranch(tree.at(tree.tip().height - 3) ?? tree.genesis, first ?? fetched(tree.genesis));
      await end.append(rest);
    }
    const read = log.read;
    let reads = 0;
    log.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    expect(await end.hashAt(100)).toBe(tree.at(100)?.hash);
    expect(reads).toBeLessThanOrEqual(4);
  });
});

describe('the log end refuses', () => {
  it('a block that does not follow, whatever the caller assumes', async () => {
    const tree = createBlockTree();
    tree.extend(3);
    const log = await newLog();
    const end = await open(log);
    await expect(end.append(line(tree, 1))).rejects.toMatchObject({ code: 'log_inconsistent' });
    await end.append(line(tree, 0).slice(0, 2));
    await expect(end.append(line(tree, 3))).rejects.toMatchObject({ code: 'log_inconsistent' });
    const stranger = fetched(tree.grow(tree.genesis.hash, 2));
    await expect(end.append([stranger])).rejects.toMatchObject({ code: 'log_inconsistent' });
    await expect(end.switchBranch({ height: 0, hash: 'other' }, stranger)).rejects.toMatchObject({
      code: 'log_inconsistent',
    });
    await expect(end.switchBranch({ height: 1, hash: tree.at(1)?.hash ?? '' }, stranger)).rejects.toMatchObject({
      code: 'log_inconsistent',
    });
    const elsewhere = tree.grow(tree.genesis.hash, 1);
    const afterElsewhere = fetched(tree.grow(elsewhere.hash, 1));
    await end.append([fetched(tree.at(2) ?? tree.genesis), fetched(tree.at(3) ?? tree.genesis)]);
    await expect(end.switchBranch(elsewhere, afterElsewhere)).rejects.toMatchObject({ code: 'log_inconsistent' });
    await expect(end.switchBranch(tree.tip(), fetched(tree.grow(tree.tip().hash, 1)))).rejects.toMatchObject({
      code: 'log_inconsistent',
    });
    expect(await log.blocks('vrsc')).toHaveLength(4);
  });

  it('a log whose newest blocks do not link', async () => {
    const tree = createBlockTree();
    tree.extend(2);
    const log = await newLog();
    const writer = await log.openWriter('blocks', 'vrsc');
    const blocks = [tree.genesis, tree.at(1) ?? tree.genesis, tree.grow(tree.grow(tree.genesis.hash, 1).hash, 1)];
    const records = blocks.map((block, position) => {
      const { bytes, ...rest } = fetched(block);
      return { position, payload: encodeBlocksRecord({ kind: 'block', position, ...rest, block: bytes }) };
    });
    await writer.append(records);
    await expect(open(log)).rejects.toMatchObject({ code: 'log_inconsistent' });
  });
});
