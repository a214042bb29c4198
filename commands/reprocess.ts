/** `reprocess`: history stamped again beside what is served, the comparison of the two, and their swap. */
import { type Generation, readGenerations, servedGeneration } from '../pipeline/price/generations.ts';
import { newestTick } from '../pipeline/price/postgres-prices.ts';
import { pricingRules } from '../pipeline/price/run-price.ts';
import { type Comparison, compareGenerations } from '../pipeline/reprocess/compare-generations.ts';
import { beginGeneration, dropGeneration, swapGenerations } from '../pipeline/reprocess/generations-beside.ts';
import { createGenerationMaker, type Step } from '../pipeline/reprocess/make-generation.ts';
import { readProgress } from '../pipeline/reprocess/progress.ts';
import { createRateMeter } from '../pipeline/stage/rate-meter.ts';
import { acquireStageLock, fencedBy } from '../pipeline/stage/stage-lock.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import { ALL_CHAINS } from '../schemas/stages.ts';
import type { StoreContext } from './control-commands.ts';
import { type ReprocessAsked, reprocessAsked } from './reprocess-arguments.ts';

type Print = (line: string) => void;

const PROGRESS_MS = 5000;
const WAITS_MS = 2000;
const RATE_WINDOW_MS = 30_000;

/** → 0 when what was asked for is so; 1 when it was stopped before. */
export async function printReprocess(
  context: StoreContext,
  args: readonly string[],
  print: Print,
  signal: AbortSignal,
): Promise<number> {
  const { stores, config } = context;
  const asked = reprocessAsked(
    args,
    config.chains.map(({ name }) => name),
  );
  if (asked.action === 'list') return list(context, print);
  if (asked.action === 'make') return make(context, asked, print, signal);
  if (asked.action === 'drop') {
    await dropGeneration(stores, asked.generation);
    print(`Generation ${asked.generation} is dropped.`);
    return 0;
  }
  const { generation, description } = await swapGenerations(stores.postgres, asked.to);
  print(`Generation ${generation} (${description}) is served.`);
  return 0;
}

async function list({ stores }: StoreContext, print: Print): Promise<number> {
  for (const one of await readGenerations(stores.postgres.pool)) {
    const { generation, description, served, isUnfinished } = one;
    const state = served ? 'served' : isUnfinished ? 'unfinished' : 'ready';
    print(`${generation}  ${state.padEnd(10)}  ${description}`);
  }
  return 0;
}

async function make(
  context: StoreContext,
  { range, description, dryRun }: Extract<ReprocessAsked, { action: 'make' }>,
  print: Print,
  signal: AbortSignal,
): Promise<number> {
  const { config, stores, logger } = context;
  const generation = await beginGeneration(stores, range, description);
  const { pool } = stores.postgres;
  const { generation: base } = await servedGeneration(pool);
  const chains = config.chains.map((chain) => ({ ...chain, nativeCurrencyId: nativeCurrencyId(chain) }));
  print(`Generation ${generation.generation} (${description}) is made beside generation ${base}, which is served.`);
  try {
    const waits = setTimeout(() => print('Another run is at work: this one waits for its end.'), WAITS_MS);
    const lock = await acquireStageLock(stores.postgres, 'reprocess', ALL_CHAINS, signal).finally(() =>
      clearTimeout(waits),
    );
    try {
      const rules = pricingRules(chains, config);
      const fenced = fencedBy(lock, stores);
      const maker = createGenerationMaker({ generation, base, chains, rules, stores: fenced, lock, logger, signal });
      const show = createProgress(print);
      const isEnough = async () => dryRun && ((await readProgress(pool, generation.generation))?.stamped ?? -1) >= 0;
      while (!(await isEnough())) {
        const step = await maker.step();
        if (!step) break;
        show(step);
      }
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    print('Stopped; the same command goes on from here.');
    return 1;
  }
  await compare(context, generation, base, print);
  const isReady = (await readProgress(pool, generation.generation)) === null;
  print(
    isReady
      ? 'It is ready, and followed from now on: `verustream reprocess --swap` serves it.'
      : 'Nothing is changed; the same command without --dry-run goes on from here.',
  );
  return 0;
}

const WHAT = { prices: 'prices', stamps: 'all stamps', copy: 'stamps copied', follow: 'what came since' } as const;

function createProgress(print: Print): (step: Step) => void {
  let [phase, at, printed] = ['', 0, 0];
  let meter = createRateMeter(RATE_WINDOW_MS);
  return ({ phase: now, progress }) => {
    const { priced, stamped, copied, newest } = progress;
    const [done, target] = now === 'prices' ? [priced, newest] : now === 'copy' ? [copied, stamped] : [stamped, newest];
    if (now === phase) meter.add(Math.max(0, done - at));
    else meter = createRateMeter(RATE_WINDOW_MS);
    if (now === phase && performance.now() - printed < PROGRESS_MS) {
      at = done;
      return;
    }
    [phase, at, printed] = [now, done, performance.now()];
    const rate = meter.rate();
    const eta = rate > 0 ? `, ${rate.toFixed(0)} blocks/s, about ${Math.ceil((target - done) / rate)} s to go` : '';
    print(`${WHAT[now]}: block ${done + 1} of ${target + 1}${eta}`);
  };
}

async function compare(
  { stores }: StoreContext,
  { generation: after }: Generation,
  before: number,
  print: Print,
): Promise<void> {
  const progress = await readProgress(stores.postgres.pool, after);
  const tick = progress?.stamped ?? (await newestTick(stores.postgres.pool));
  printComparison(await compareGenerations(stores.clickhouse, { before, after, tick: Math.max(0, tick) }), print);
}

function printComparison({ rules, differences, ratios }: Comparison, print: Print): void {
  print('');
  print(row('rule', 'served', 'new', 'USD served', 'USD new'));
  for (const { rule, reason, before, after, usdBefore, usdAfter } of rules) {
    print(row(reason ? `${rule}, ${reason}` : rule, before, after, usdBefore, usdAfter));
  }
  print('');
  print(row('new / served', 'conversions'));
  for (const { ratio, conversions } of ratios) print(row(ratio, conversions));
  print('');
  print(differences.length === 0 ? 'No value differs.' : 'largest differences, in USD: served, new');
  for (const { chain, txid, vout, height, before, after } of differences) {
    print(`${chain}  ${height}  ${txid}:${vout}  ${before ?? '-'}  ${after ?? '-'}`);
  }
  print('');
}

function row(first: string, ...rest: readonly (string | number)[]): string {
  return [first.padEnd(34), ...rest.map((cell) => String(cell).padStart(18))].join(' ').trimEnd();
}
