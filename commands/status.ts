/** `status`: how each stage of each chain stands. */
import type { Stores } from '../infra/stores.ts';
import type { Config } from '../schemas/config.ts';
import { STAGES, type StageStatus } from '../schemas/stage-status.ts';

/** Prints one table; → 0 only when every stage moves, waits at its input's end or has ended. */
export async function printStatus(config: Config, stores: Stores, print: (line: string) => void): Promise<number> {
  const { rows } = await stores.postgres.pool.query<{ stage: string; chain: string; status: string }>(
    'SELECT stage, chain, status FROM stage_status',
  );
  const statuses = new Map(rows.map((row) => [`${row.stage}/${row.chain}`, JSON.parse(row.status) as StageStatus]));
  const { rows: letters } = await stores.postgres.pool.query<{ chain: string; count: bigint }>(
    'SELECT chain, count(*) FROM dead_letters GROUP BY chain',
  );
  const deadLetters = new Map(letters.map(({ chain, count }) => [chain, count]));
  let healthy = true;
  print(row(['chain', 'stage', 'state', 'height', 'target', 'lag', 'blocks/s', 'ETA']));
  for (const { name } of config.chains) {
    const daemonHeight = statuses.get(`tail/${name}`)?.targetHeight ?? null;
    print(row([name, 'daemon', '', text(daemonHeight)]));
    for (const stage of STAGES) {
      const status = statuses.get(`${stage}/${name}`);
      if (!status) {
        print(row([name, stage, 'never started']));
        healthy = false;
        continue;
      }
      const target = daemonHeight ?? status.targetHeight;
      const lag = target === null || status.height === null ? null : target - status.height;
      print(
        row([
          name,
          stage,
          status.state,
          text(status.height),
          text(target),
          text(lag),
          status.rate.toFixed(1),
          eta(status),
        ]),
      );
      if (status.error) print(`  ${status.error.code}: ${status.error.message}`);
      if (status.state === 'stopped' || status.error) healthy = false;
    }
    const dead = deadLetters.get(name);
    if (dead) print(`  ${dead} dead letters: run \`verustream dead-letters list ${name}\`.`);
  }
  return healthy ? 0 : 1;
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
