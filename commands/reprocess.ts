/** `reprocess`: stamps history again into a candidate generation, compares it with the served one, and swaps the two. */
import { type Generation, readGenerations, servedGeneration } from '../pipeline/price/generations.ts';
import { newestTick } from '../pipeline/price/postgres-prices.ts';
import { foldedRulesOf, pricingRules } from '../pipeline/price/run-price.ts';
import { beginGeneration, dropGeneration, swapGenerations } from '../pipeline/reprocess/candidate-generation.ts';
import { compareGenerations, type GenerationComparison } from '../pipeline/reprocess/compare-generations.ts';
import { createGenerationMaker, type ReprocessStep } from '../pipeline/reprocess/make-generation.ts';
import { readProgress } from '../pipeline/reprocess/progress.ts';
import { waitOutInserts } from '../pipeline/sinks/clickhouse/wait-out-inserts.ts';
import { acquireStageLock, fencedBy } from '../pipeline/stage/stage-lock.ts';
import { createStageProgress } from '../pipeline/stage/stage-progress.ts';
import { ALL_CHAINS } from '../schemas/stages.ts';
import type { CommandOutcome, Output, StoreContext } from './command.ts';
import type { InputOf } from './command-table.ts';
import { pricedChains, pricingWarnings } from './priced-chains.ts';
import { parseReprocessRequest, type ReprocessRequest } from './reprocess-arguments.ts';

type Print = (line: string) => void;

const PROGRESS_MS = 5000;
const WAITS_MS = 2000;

/** Exit code 0 on completion, 1 if it was stopped earlier. */
export async function run(context: StoreContext, input: InputOf<'reprocess'>, output: Output): Promise<CommandOutcome> {
  const { stores, config } = context;
  const names = config.chains.map(({ name }) => name);
  const asked = parseReprocessRequest(input, names);
  let comparison: GenerationComparison | null = null;
  if (asked.action === 'make') {
    comparison = await make(context, asked, output);
    if (!comparison) return { exitCode: 1, state: await stateOf(context, comparison) };
  } else if (asked.action === 'drop') {
    await dropGeneration(stores, asked.generation);
    output.line(`Generation ${asked.generation} is dropped.`);
  } else if (asked.action === 'swap') {
    const { generation, description } = await swapGenerations(stores.postgres, asked.to);
    output.line(`Generation ${generation} (${description}) is served.`);
  }
  const state = await stateOf(context, comparison);
  if (asked.action === 'list') {
    for (const { generation, state: now, description } of state.generations) {
      output.line(`${generation}  ${now.padEnd(10)}  ${description}`);
    }
    for (const warning of state.pricingWarnings) output.line(warning);
  }
  return { exitCode: 0, state };
}

async function stateOf(context: StoreContext, comparison: GenerationComparison | null) {
  const all = await readGenerations(context.stores.postgres.pool);
  const generations = all.map(({ generation, description, served, isUnfinished }) => ({
    generation,
    state: served ? 'served' : isUnfinished ? 'unfinished' : 'ready',
    description,
  }));
  return { generations, comparison, pricingWarnings: await pricingWarnings(context) };
}

/** Returns null if it was stopped before its end. */
async function make(
  context: StoreContext,
  { range, description, dryRun }: Extract<ReprocessRequest, { action: 'make' }>,
  { line, progress }: Output,
): Promise<GenerationComparison | null> {
  const { config, stores, logger, signal } = context;
  const chains = pricedChains(config);
  const rules = pricingRules(chains, config);
  const generation = await beginGeneration(stores, range, description, foldedRulesOf(chains, config));
  const { pool } = stores.postgres;
  const { generation: base } = await servedGeneration(pool);
  line(
    `Generation ${generation.generation} (${description}) is being made next to generation ${base}, which is served.`,
  );
  try {
    const waits = setTimeout(() => progress('Another run is active: this one waits for it to end.'), WAITS_MS);
    const lock = await acquireStageLock(stores.postgres, 'reprocess', ALL_CHAINS, signal).finally(() =>
      clearTimeout(waits),
    );
    try {
      await waitOutInserts(stores.clickhouse, signal); // inserts of a killed run may still be in progress
      const fenced = fencedBy(lock, stores);
      const maker = createGenerationMaker({ generation, base, chains, rules, stores: fenced, lock, logger, signal });
      const show = createProgress(progress);
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
    line('Stopped; the same command continues from here.');
    return null;
  }
  const comparison = await compare(context, generation, base);
  printComparison(comparison, line);
  const isReady = (await readProgress(pool, generation.generation)) === null;
  line(
    isReady
      ? 'It is ready and is kept up to date from now on: `verustream reprocess --swap` serves it.'
      : 'Nothing was changed; the same command without --dry-run continues from here.',
  );
  return comparison;
}

const WHAT = { prices: 'prices', stamps: 'all stamps', copy: 'stamps copied', follow: 'what came since' } as const;

function createProgress(print: Print): (step: ReprocessStep) => void {
  let [phase, printed] = ['', 0];
  let stage = createStageProgress();
  return ({ phase: now, progress }) => {
    const { priced, stamped, copied, newest } = progress;
    const [done, target] = now === 'prices' ? [priced, newest] : now === 'copy' ? [copied, stamped] : [stamped, newest];
    const isNew = now !== phase;
    if (isNew) stage = createStageProgress();
    stage.at(done, isNew ? 0 : done - (stage.numbers().height ?? done), null);
    stage.target(target);
    if (!isNew && performance.now() - printed < PROGRESS_MS) return;
    [phase, printed] = [now, performance.now()];
    const { rate } = stage.numbers();
    const eta = rate > 0 ? `, ${rate.toFixed(0)} blocks/s, about ${stage.etaSeconds()} s to go` : '';
    print(`${WHAT[now]}: block ${done + 1} of ${target + 1}${eta}`);
  };
}

async function compare(
  { stores }: StoreContext,
  { generation: after }: Generation,
  before: number,
): Promise<GenerationComparison> {
  const progress = await readProgress(stores.postgres.pool, after);
  const tick = progress?.stamped ?? (await newestTick(stores.postgres.pool));
  return compareGenerations(stores.clickhouse, { before, after, tick: Math.max(0, tick) });
}

function printComparison({ rules, differences, ratios }: GenerationComparison, print: Print): void {
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
