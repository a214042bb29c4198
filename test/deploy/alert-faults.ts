/** Faults as the metrics show them, and which alerts follow from each: no other may fire. */

export interface AlertFault {
  readonly name: string;
  /** Series of promtool's test files: value, then steps of 30 s. */
  readonly series: Readonly<Record<string, string>>;
  readonly fires: readonly string[];
}

const reason = (code: string, { chain = 'vrsc', stage = '', cause = '' } = {}): string =>
  `verustream_unready_reason{chain="${chain}",stage="${stage}",code="${code}",cause="${cause}",instance="serve",job="verustream"}`;
const daemon = (place: number, chain = 'vrsc') => `verustream_daemon_healthy{chain="${chain}",daemon="${place}"}`;
const lag = 'verustream_stage_lag_blocks{chain="vrsc",stage="derive"}';
const requests = (status: number) =>
  `verustream_http_request_duration_seconds_count{route="/api/blocks/",method="GET",status="${status}"}`;
const within = (le: string) => `verustream_http_request_duration_seconds_bucket{le="${le}"}`;

const FOR_EVER = 'x120';
const on = `1+0${FOR_EVER}`;
const off = `0+0${FOR_EVER}`;

export const ALERT_FAULTS: readonly AlertFault[] = [
  {
    name: 'nothing is wrong',
    series: {
      'up{job="verustream",instance="tail:9464",role="tail"}': on,
      [reason('syncing', { stage: 'tail' })]: off,
      [daemon(1)]: on,
      [lag]: `1+0${FOR_EVER}`,
      'verustream_dead_letters{chain="vrsc"}': off,
      'verustream_digest_mismatches{chain="vrsc",check="audit"}': off,
      'verustream_daemon_wallet_holds{chain="vrsc",daemon="1"}': off,
      [requests(200)]: `0+300${FOR_EVER}`,
      [within('0.1')]: `0+300${FOR_EVER}`,
      [within('+Inf')]: `0+300${FOR_EVER}`,
    },
    fires: [],
  },
  {
    name: 'a first sync that moves',
    series: { [reason('syncing', { stage: 'derive' })]: on, [lag]: `100000-300${FOR_EVER}` },
    fires: [],
  },
  { name: 'a daemon is dead', series: { [reason('daemon_unreachable')]: on, [daemon(1)]: off }, fires: ['DaemonAway'] },
  {
    name: 'a daemon hangs until the chain stands still',
    series: { [reason('daemon_timeout')]: on, [reason('stalled', { stage: 'tail' })]: on, [daemon(1)]: off },
    fires: ['DaemonAway'],
  },
  {
    name: 'a daemon follows another chain',
    series: { [reason('wrong_chain')]: on, [daemon(1)]: off },
    fires: ['DaemonAway'],
  },
  { name: 'one daemon of two is dead', series: { [daemon(1)]: on, [daemon(2)]: off }, fires: ['DaemonUnwell'] },
  {
    name: 'a daemon of one chain is dead, one of two of another chain too',
    series: { [reason('daemon_unreachable', { chain: 'chips' })]: on, [daemon(1, 'chips')]: off, [daemon(2)]: off },
    fires: ['DaemonAway', 'DaemonUnwell'],
  },
  { name: 'a chain stands still', series: { [reason('stalled', { stage: 'tail' })]: on }, fires: ['ChainStandsStill'] },
  {
    name: 'a rewind below finality',
    series: { [reason('stage_stopped', { stage: 'tail', cause: 'rewind_too_deep' })]: on },
    fires: ['StageStopped'],
  },
  {
    name: 'the log is away',
    series: { [reason('stage_waiting', { stage: 'derive', cause: 'log_unreachable' })]: on },
    fires: ['StageWaits'],
  },
  {
    name: 'a stage waits for less than a minute',
    series: { [reason('stage_waiting', { stage: 'derive', cause: 'log_unreachable' })]: `0+0x116 1 1 0 0` },
    fires: [],
  },
  {
    name: 'a process is killed',
    series: {
      [reason('not_reporting', { stage: 'derive' })]: on,
      'up{job="verustream",instance="derive:9464",role="derive"}': off,
      [lag]: `30+1${FOR_EVER}`,
    },
    fires: ['ProcessAway', 'StageSilent'],
  },
  { name: 'a stage is too slow', series: { [lag]: `30+1${FOR_EVER}` }, fires: ['FallsBehind'] },
  {
    name: 'Postgres is away',
    series: {
      [reason('postgres_unreachable', { chain: '' })]: on,
      [reason('stage_waiting', { stage: 'derive', cause: 'postgres_unreachable' })]: on,
      [reason('not_reporting', { stage: 'tail' })]: on,
      [requests(503)]: `0+300${FOR_EVER}`,
      [lag]: `30+1${FOR_EVER}`,
    },
    fires: ['StoreFails'],
  },
  {
    name: 'the disk of ClickHouse is full',
    series: {
      [reason('clickhouse_overloaded', { chain: '' })]: on,
      [reason('stage_waiting', { stage: 'derive', cause: 'clickhouse_overloaded' })]: on,
    },
    fires: ['NoRoom'],
  },
  {
    name: 'the disk of the embedded log is full',
    series: { [reason('stage_waiting', { stage: 'tail', cause: 'log_storage_full' })]: on },
    fires: ['NoRoom', 'StageWaits'],
  },
  {
    name: 'the stores part',
    series: { 'verustream_digest_mismatches{chain="vrsc",check="audit"}': on },
    fires: ['AuditDiffers'],
  },
  {
    name: 'coins appear from nowhere',
    series: { 'verustream_invariant_violations{chain="vrsc"}': on },
    fires: ['AuditDiffers'],
  },
  {
    name: 'a conversion is not stamped',
    series: { 'verustream_conversions_without_stamp{chain="vrsc"}': on },
    fires: ['StampsMissing'],
  },
  {
    name: 'an output cannot be decoded',
    series: { 'verustream_dead_letters{chain="vrsc"}': on },
    fires: ['DeadLetters'],
  },
  {
    name: 'a wallet holds coins',
    series: { 'verustream_daemon_wallet_holds{chain="vrsc",daemon="1"}': on },
    fires: ['WalletHolds'],
  },
  {
    name: 'two in a hundred requests fail',
    series: { [requests(200)]: `0+98${FOR_EVER}`, [requests(500)]: `0+2${FOR_EVER}` },
    fires: ['ErrorRate'],
  },
  {
    name: 'one in a thousand fails',
    series: { [requests(200)]: `0+999${FOR_EVER}`, [requests(500)]: `0+1${FOR_EVER}` },
    fires: [],
  },
  {
    name: 'requests take seconds',
    series: {
      [within('1')]: `0+10${FOR_EVER}`,
      [within('5')]: `0+300${FOR_EVER}`,
      [within('+Inf')]: `0+300${FOR_EVER}`,
    },
    fires: ['Latency'],
  },
];
