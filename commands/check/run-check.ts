/** `check`: all that the service will meet, asked beforehand and without changing anything. */
import type { Logger } from '../../infra/logger.ts';
import type { Config } from '../../schemas/config.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { CommandContext } from '../command.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkLog } from './check-log.ts';
import { checkMachine } from './check-machine.ts';
import { checkClickHouse, checkPostgres } from './check-stores.ts';
import { type Finding, findingsOf, type Verdict } from './finding.ts';

const NAMES: Readonly<Record<Verdict, string>> = { right: 'right', note: 'note ', wrong: 'WRONG' };

/** → 0 when nothing is wrong. @throws PermanentError usage */
export async function runCheck({ config, args, logger, print }: CommandContext): Promise<number> {
  const [option, ...more] = args;
  if (more.length > 0 || (option !== undefined && option !== '--json')) {
    throw new PermanentError('usage', `check takes nothing but --json, not "${args.join(' ')}"`);
  }
  const findings = await allFindings(config, logger);
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const wrong = count('wrong');
  if (option === '--json') print(JSON.stringify({ ok: wrong === 0, findings }));
  else {
    const width = Math.max(...findings.map(({ subject }) => subject.length));
    for (const finding of findings) print(line(finding, width));
    print(`${wrong} wrong, ${count('note')} to note, ${count('right')} right.`);
  }
  return wrong === 0 ? 0 : 1;
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
    const says = 'none is configured: `start` plays the bundled recording';
    return [Promise.resolve([note(says, 'set VERUSD_VRSC, or chains in the file of VERUSTREAM_CONFIG')])];
  }
  return chains.flatMap((chain) => [chain.rpc].flat().map((rpc, index) => checkDaemon(chain, rpc, index + 1, logger)));
}

function line({ subject, verdict, says, mend }: Finding, width: number): string {
  const told = mend === null ? says : `${says}; to do: ${mend}`;
  return `${NAMES[verdict]}  ${subject.padEnd(width)}  ${told}`;
}
