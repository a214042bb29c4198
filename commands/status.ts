/** `status`: how each daemon and each stage of each chain stands, and what keeps a chain from being ready. */
import { causesOf } from '../api/state/chain-causes.ts';
import { readStageStatuses, STATUS_SQL, type StageStatuses, type StatusRow } from '../api/state/stage-statuses.ts';
import type { Stores } from '../infra/stores.ts';
import { readWallets, type WalletRow } from '../infra/verusd/wallet-rows.ts';
import type { ChainConfig, Config } from '../schemas/config.ts';
import type { StageStatus } from '../schemas/stage-status.ts';
import { REPORTING_STAGES, type ReportingStage } from '../schemas/stages.ts';

type Print = (line: string) => void;

/** A stage that catches up does what it should. */
const NO_FAULT = new Set(['syncing']);

/** Prints one table; → 0 only when every stage moves, waits at its input's end or has ended, and a daemon of each chain is well. */
export async function printStatus(config: Config, stores: Stores, print: Print): Promise<number> {
  const { pool } = stores.postgres;
  const statuses = readStageStatuses((await pool.query<StatusRow>(STATUS_SQL)).rows);
  const { rows: letters } = await pool.query<{ chain: string; count: bigint }>(
    'SELECT chain, count(*) FROM dead_letters GROUP BY chain',
  );
  const deadLetters = new Map(letters.map(({ chain, count }) => [chain, count]));
  const wallets = await readWallets(stores.postgres);
  let healthy = true;
  print(row(['chain', 'stage', 'state', 'height', 'target', 'lag', 'blocks/s', 'ETA']));
  for (const chain of config.chains) {
    const { name } = chain;
    const height = (stage: ReportingStage) => statuses.of(name, stage)?.height ?? null;
    const facts = { statuses, derived: height('derive'), priced: height('price') };
    const causes = causesOf(chain, facts, Date.now()).map(({ reason }) => reason);
    printDaemons(name, statuses, print);
    for (const stage of REPORTING_STAGES) {
      printStage(name, stage, statuses, print);
      const told = causes.filter((cause) => cause.stage === stage && !SHOWN.has(cause.code));
      for (const { code, detail } of told) print(`  ${code}: ${detail}`);
    }
    if (causes.some(({ code }) => !NO_FAULT.has(code))) healthy = false;
    const dead = deadLetters.get(name);
    if (dead) print(`  ${dead} dead letters: run \`verustream dead-letters list ${name}\`.`);
    for (const warning of walletWarnings(chain, wallets)) print(`  ${warning}`);
  }
  return healthy ? 0 : 1;
}

/** The line of the stage, and its error, say so. */
const SHOWN = new Set(['not_started', 'stage_waiting', 'stage_stopped']);

/** The target of a daemon is what its peers tell of. */
function printDaemons(chain: string, statuses: StageStatuses, print: Print): void {
  const daemons = statuses.daemons(chain);
  if (daemons.length === 0) {
    print(row([chain, 'daemon', 'unknown', text(statuses.of(chain, 'tail')?.targetHeight ?? null)]));
  }
  for (const [index, { height, peersHeight, fault }] of daemons.entries()) {
    const name = daemons.length === 1 ? 'daemon' : `daemon ${index + 1}`;
    print(row([chain, name, fault ? 'unwell' : 'well', text(height), text(peersHeight)]));
    if (fault) print(`  ${fault.code}: ${fault.message}`);
  }
}

function printStage(chain: string, stage: ReportingStage, statuses: StageStatuses, print: Print): void {
  const status = statuses.of(chain, stage);
  if (!status) {
    print(row([chain, stage, 'never started']));
    return;
  }
  const target = statuses.of(chain, 'tail')?.targetHeight ?? status.targetHeight;
  const lag = target === null || status.height === null ? null : target - status.height;
  const heights = [text(status.height), text(target), text(lag)];
  print(row([chain, stage, status.state, ...heights, status.rate.toFixed(1), eta(status)]));
  if (status.waitsFor) {
    const ahead = `${status.aheadBlocks ?? 0} more blocks are priced provisionally`;
    print(`  waits for ${status.waitsFor}, whose clock has not come as far; ${ahead}`);
  }
  if (status.error) print(`  ${status.error.code}: ${status.error.message}`);
}

function walletWarnings(chain: ChainConfig, wallets: readonly WalletRow[]): string[] {
  const daemons = typeof chain.rpc === 'string' ? 1 : chain.rpc.length;
  const own = wallets.filter((wallet) => wallet.chain === chain.name && wallet.daemon <= daemons);
  const warnings = own.flatMap(({ daemon, holds, answered, answered_at, tried }) => {
    if (tried && !answered) {
      const since = answered_at ? `since ${answered_at.toISOString()}` : 'yet';
      return [`Daemon ${daemon} has not told what its wallet holds ${since}.`];
    }
    return holds && holds.length > 0
      ? [`The wallet of daemon ${daemon} holds ${holds.join(' and ')}: give it an empty one.`]
      : [];
  });
  const refused = chain.requireEmptyWallet && warnings.length > 0;
  return refused ? [...warnings, 'Methods that touch the wallet are not served until that has changed.'] : warnings;
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

function eta(status: StageStatus): string {
  return status.etaSeconds === null ? '-' : `${Math.ceil(status.etaSeconds)} s`;
}
