/** Checks version, rights, free space and clock of both stores if they have URLs. Embedded stores are part of the data folder. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { freeSpace } from '../../infra/clickhouse/migrate.ts';
import { connectClickHouse } from '../../infra/clickhouse/server.ts';
import type { Logger } from '../../infra/logger.ts';
import { beyond, inspectPostgres } from '../../infra/postgres/inspect-postgres.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Config } from '../../schemas/config.ts';
import { roomFinding } from './check-room.ts';
import { type Finding, findingsOf, within } from './finding.ts';

const ANSWER_SECONDS = 15;
const OLDEST_POSTGRES = 15;
/** Most connections of one process with every role: docs/errors.md, postgres_full. */
const CONNECTIONS = 50;
const MOST_CLOCK_MS = 5_000;
/** Version of the embedded engine, which runs the same SQL. */
const TESTED_CLICKHOUSE = [26, 7] as const;

export async function checkPostgres({ databaseUrl }: Config, logger: Logger): Promise<readonly Finding[]> {
  const subject = 'Postgres';
  const { right, note, wrong, failed } = findingsOf(subject);
  if (!databaseUrl) return [right('embedded, in the data folder')];
  try {
    const report = await within(ANSWER_SECONDS, inspectPostgres(databaseUrl, logger));
    const findings: Finding[] = [];
    if (report.major >= OLDEST_POSTGRES) findings.push(right(`answers, version ${report.version}`));
    else findings.push(wrong(`version ${report.version} is too old`, `use Postgres ${OLDEST_POSTGRES} or newer`));
    if (report.readOnly) findings.push(wrong('takes no writes', 'promote it, or point DATABASE_URL at the primary'));
    if (!report.mayCreate) {
      findings.push(wrong('its role may not create tables', 'GRANT CREATE ON DATABASE … TO the role of DATABASE_URL'));
    }
    if (!report.mayCreateDatabases) {
      const says = 'its role may not create databases, which `verify` builds next to the served one';
      findings.push(note(says, 'ALTER ROLE … CREATEDB'));
    }
    if (report.left.length > 0) {
      const says = `a killed \`verify\` has left ${report.left.join(', ')}, here and in ClickHouse`;
      findings.push(note(says, 'the next `verify` drops it'));
    }
    if (report.freeConnections < CONNECTIONS) {
      const says = `${report.freeConnections} connections are free; a process takes up to ${CONNECTIONS}`;
      findings.push(note(says, 'raise max_connections, unless the running service has taken the others'));
    }
    return [...findings, clockFinding(report.clockAheadMs, subject)];
  } catch (error) {
    return [failed(error, 'start Postgres, and correct user, password, host and database of DATABASE_URL')];
  }
}

export async function checkClickHouse(
  { clickhouseUrl }: Pick<Config, 'clickhouseUrl'>,
  logger: Logger,
  answerSeconds = ANSWER_SECONDS,
): Promise<readonly Finding[]> {
  const subject = 'ClickHouse';
  const { right, failed } = findingsOf(subject);
  if (!clickhouseUrl) return [right('embedded, in the data folder')];
  let clickhouse: ClickHouse | null = null;
  try {
    clickhouse = await connectClickHouse(clickhouseUrl, logger, answerSeconds);
    return await within(answerSeconds, serverFindings(clickhouse, subject));
  } catch (error) {
    return [failed(error, 'start ClickHouse, and correct user, password, host and database of CLICKHOUSE_URL')];
  } finally {
    await clickhouse?.close();
  }
}

const readServer = rowReader({ version: columns.text, now: columns.text, readonly: columns.text });

async function serverFindings(clickhouse: ClickHouse, subject: string): Promise<Finding[]> {
  const { note } = findingsOf(subject);
  const before = Date.now();
  const [server] = await clickhouse.rows(
    readServer,
    "SELECT version() AS version, toUnixTimestamp64Milli(now64(3)) AS now, toString(getSetting('readonly')) AS readonly",
  );
  if (!server) throw new Error('ClickHouse answered without a row');
  const findings = [
    versionFinding(server.version, subject),
    clockFinding(beyond(Number(server.now), before, Date.now()), subject),
  ];
  if (Number(server.readonly) > 0) {
    findings.push(findingsOf(subject).wrong('its user may not write', 'give the user a profile with readonly=0'));
  }
  // The user of a server may not be allowed to read this.
  const free = await freeSpace(clickhouse).catch((error: Error) => error);
  if (typeof free === 'number') findings.push(roomFinding(free, subject, 'its smallest disk'));
  else findings.push(note(`its user may not see its disks: ${free.message}`, 'GRANT SELECT ON system.disks'));
  return findings;
}

function versionFinding(version: string, subject: string): Finding {
  const { right, note } = findingsOf(subject);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [testedMajor, testedMinor] = TESTED_CLICKHOUSE;
  const isOlder = major < testedMajor || (major === testedMajor && minor < testedMinor);
  if (!isOlder) return right(`answers, version ${version}`);
  return note(`version ${version}; tested is ${TESTED_CLICKHOUSE.join('.')}`, 'use that version or a newer one');
}

function clockFinding(aheadMs: number, subject: string): Finding {
  const { right, wrong } = findingsOf(subject);
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= MOST_CLOCK_MS) return right("its clock agrees with this machine's");
  const says = `its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  return wrong(says, 'set the clocks of both machines by NTP');
}
