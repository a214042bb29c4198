/** `status`: prints the state of each daemon and each stage of each chain, and the reasons why a chain is not ready. */
import { causesOf } from '../api/state/chain-causes.ts';
import { readStageStatuses, readStatus, STATUS_SQL, type StageStatuses } from '../api/state/stage-statuses.ts';
import { readRows } from '../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../infra/row-reader.ts';
import { readWallets, type WalletRow } from '../infra/verusd/wallet-rows.ts';
import type { ChainConfig } from '../schemas/config.ts';
import type { DaemonStatus, PublisherState } from '../schemas/daemon-status.ts';
import type { StageStatus } from '../schemas/stage-status.ts';
import { REPORTING_STAGES, type ReportingStage } from '../schemas/stages.ts';
import type { CommandOutcome, Output, PostgresContext } from './command.ts';
import { pricingWarnings } from './priced-chains.ts';

type Print = (line: string) => void;

interface StageState {
  readonly stage: ReportingStage;
  readonly target: number | null;
  readonly lag: number | null;
  /** Null before its first start. */
  readonly status: Omit<StageStatus, 'targetHeight'> | null;
  /** Reasons in this stage why the chain is not ready. */
  readonly causes: readonly { readonly code: string; readonly detail: string }[];
}

interface ChainStatus {
  readonly chain: string;
  readonly healthy: boolean;
  readonly daemons: readonly DaemonStatus[];
  readonly stages: readonly StageState[];
  readonly deadLetters: number;
  readonly walletWarnings: readonly string[];
}

const readLetters = rowReader({ chain: columns.text, count: columns.bigint });

/** Catching up is a healthy state of a stage. */
const NO_FAULT = new Set(['syncing']);
/** The line of the stage and its error already show these. */
const SHOWN = new Set(['not_started', 'stage_waiting', 'stage_stopped']);

/**
 * Prints one table. Exit code 0 only when every stage moves, waits at the end of its input or has ended, and each chain has a healthy
 * daemon.
 */
export async function run(
  { config, stores }: Pick<PostgresContext, 'config' | 'stores'>,
  _input: object,
  { line }: Output,
): Promise<CommandOutcome> {
  const { pool } = stores.postgres;
  const statuses = readStageStatuses(await readRows(pool, readStatus, STATUS_SQL));
  const letters = await readRows(pool, readLetters, 'SELECT chain, count(*) FROM dead_letters GROUP BY chain');
  const deadLetters = new Map(letters.map(({ chain, count }) => [chain, Number(count)]));
  const wallets = await readWallets(stores.postgres);
  const chains = config.chains.map((chain) => chainStatus(chain, statuses, deadLetters.get(chain.name) ?? 0, wallets));
  line(row(['chain', 'stage', 'state', 'height', 'target', 'lag', 'blocks/s', 'ETA']));
  for (const chain of chains) printChain(chain, line);
  const warnings = await pricingWarnings({ config, stores });
  for (const warning of warnings) line(warning);
  const ok = chains.every(({ healthy }) => healthy);
  return { exitCode: ok ? 0 : 1, state: { ok, chains, pricingWarnings: warnings } };
}

function chainStatus(
  chain: ChainConfig,
  statuses: StageStatuses,
  deadLetters: number,
  wallets: readonly WalletRow[],
): ChainStatus {
  const { name } = chain;
  const height = (stage: ReportingStage) => statuses.of(name, stage)?.height ?? null;
  const facts = { statuses, derived: height('derive'), priced: height('price') };
  const causes = causesOf(chain, facts, Date.now()).map(({ reason }) => reason);
  const tailTarget = statuses.of(name, 'tail')?.targetHeight ?? null;
  const stages = REPORTING_STAGES.map((stage): StageState => {
    const known = statuses.of(name, stage);
    const status = known ? shown(known) : null;
    const target = tailTarget ?? known?.targetHeight ?? null;
    const lag = target === null || status === null || status.height === null ? null : target - status.height;
    const own = causes.filter((cause) => cause.stage === stage).map(({ code, detail }) => ({ code, detail }));
    return { stage, target, lag, status, causes: own };
  });
  return {
    chain: name,
    healthy: causes.every(({ code }) => NO_FAULT.has(code)),
    daemons: statuses.daemons(name),
    stages,
    deadLetters,
    walletWarnings: walletWarnings(chain, wallets),
  };
}

/** Omits members that only stages use. */
function shown({ state, height, rate, etaSeconds, movedAt, waitsFor, aheadBlocks, error }: StageStatus) {
  const waits = waitsFor === undefined ? {} : { waitsFor, aheadBlocks: aheadBlocks ?? 0 };
  return { state, height, rate, etaSeconds, movedAt, ...waits, error };
}

function printChain(chain: ChainStatus, print: Print): void {
  printDaemons(chain, print);
  for (const stage of chain.stages) {
    printStage(chain.chain, stage, print);
    for (const { code, detail } of stage.causes) if (!SHOWN.has(code)) print(`  ${code}: ${detail}`);
  }
  if (chain.deadLetters > 0) {
    print(`  ${chain.deadLetters} dead letters: run \`verustream dead-letters list ${chain.chain}\`.`);
  }
  for (const warning of chain.walletWarnings) print(`  ${warning}`);
}

const PUBLISHER_NOTES: Readonly<Record<PublisherState, string>> = {
  heard: '',
  unheard: ': it has not announced a block yet; the chain is polled',
  silent: ': it connects but does not announce new blocks; the chain is polled',
  unreachable: ': no connection to it; the chain is polled',
};

/** The target of a daemon is the newest block of its peers. */
function printDaemons({ chain, daemons, stages }: ChainStatus, print: Print): void {
  if (daemons.length === 0) {
    const target = stages.find(({ stage }) => stage === 'tail')?.target ?? null;
    print(row([chain, 'daemon', 'unknown', text(target)]));
  }
  for (const [index, { height, peersHeight, fault, publisher }] of daemons.entries()) {
    const name = daemons.length === 1 ? 'daemon' : `daemon ${index + 1}`;
    print(row([chain, name, fault ? 'unwell' : 'well', text(height), text(peersHeight)]));
    if (fault) print(`  ${fault.code}: ${fault.message}`);
    if (publisher) print(`  ZMQ publisher ${publisher.state}${PUBLISHER_NOTES[publisher.state]}`);
  }
}

function printStage(chain: string, { stage, status, target, lag }: StageState, print: Print): void {
  if (!status) {
    print(row([chain, stage, 'never started']));
    return;
  }
  const heights = [text(status.height), text(target), text(lag)];
  print(row([chain, stage, status.state, ...heights, status.rate.toFixed(1), eta(status)]));
  if (status.waitsFor) {
    const ahead = `${status.aheadBlocks ?? 0} more blocks are priced provisionally`;
    print(`  waits for ${status.waitsFor}, whose clock is behind; ${ahead}`);
  }
  if (status.error) print(`  ${status.error.code}: ${status.error.message}`);
}

function walletWarnings(chain: ChainConfig, wallets: readonly WalletRow[]): string[] {
  const daemons = typeof chain.rpc === 'string' ? 1 : chain.rpc.length;
  const own = wallets.filter((wallet) => wallet.chain === chain.name && wallet.daemon <= daemons);
  const warnings = own.flatMap(({ daemon, holds, answered, answered_at, tried }) => {
    if (tried && !answered) {
      const since = answered_at ? `since ${answered_at.toISOString()}` : 'yet';
      return [`Daemon ${daemon} has not reported what its wallet holds ${since}.`];
    }
    return holds && holds.length > 0
      ? [`The wallet of daemon ${daemon} holds ${holds.join(' and ')}: give it an empty one.`]
      : [];
  });
  const refused = chain.requireEmptyWallet && warnings.length > 0;
  return refused ? [...warnings, 'Methods that touch the wallet are not served until that changes.'] : warnings;
}

const WIDTHS = [12, 8, 14, 10, 10, 8, 10, 8];

function row(cells: readonly string[]): string {
  return cells
    .map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0))
    .join(' ')
    .trimEnd();
}

function text(value: number | null): string {
  return value === null ? '-' : String(value);
}

function eta(status: Pick<StageStatus, 'etaSeconds'>): string {
  return status.etaSeconds === null ? '-' : `${Math.ceil(status.etaSeconds)} s`;
}
