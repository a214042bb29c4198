/** `check`: checks everything that the service depends on, without changing anything. */
import type { Logger } from '../../infra/logger.ts';
import type { Config } from '../../schemas/config.ts';
import type { CommandContext, CommandOutcome, Output } from '../command.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkLog } from './check-log.ts';
import { checkMachine } from './check-machine.ts';
import { checkClickHouse, checkPostgres } from './check-stores.ts';
import { type Finding, type FindingLevel, findingsOf } from './finding.ts';

const NAMES: Readonly<Record<FindingLevel, string>> = { right: 'right', note: 'note ', wrong: 'WRONG' };

/** Exit code 0 when nothing is wrong. */
export async function run(
  { config, logger }: Pick<CommandContext, 'config' | 'logger'>,
  _input: object,
  { line }: Output,
): Promise<CommandOutcome> {
  const findings = await allFindings(config, logger);
  const count = (verdict: FindingLevel) => findings.filter((finding) => finding.verdict === verdict).length;
  const wrong = count('wrong');
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const finding of findings) line(described(finding, width));
  line(`${wrong} wrong, ${count('note')} to note, ${count('right')} right.`);
  return { exitCode: wrong === 0 ? 0 : 1, state: { ok: wrong === 0, findings } };
}

async function allFindings(config: Config, logger: Logger): Promise<readonly Finding[]> {
  const found = await Promise.all([
    ...daemons(config, logger),
    checkLog(config, logger),
    checkPostgres(config, logger),
    checkClickHouse(config, logger),
    checkMachine(config),
  ]);
  return found.flat();
}

function daemons({ chains, demo }: Config, logger: Logger): Promise<readonly Finding[]>[] {
  if (demo) {
    const { note } = findingsOf('daemons');
    const says = 'none is configured: `start` plays the bundled recordings';
    return [Promise.resolve([note(says, 'set VERUSD_VRSC, or chains in the file of VERUSTREAM_CONFIG')])];
  }
  return chains.flatMap((chain) => [chain.rpc].flat().map((rpc, index) => checkDaemon(chain, rpc, index + 1, logger)));
}

function described({ subject, verdict, says, mend }: Finding, width: number): string {
  const text = mend === null ? says : `${says}; to do: ${mend}`;
  return `${NAMES[verdict]}  ${subject.padEnd(width)}  ${text}`;
}
