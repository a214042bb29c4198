/**
 * Faults and their alerts: those that fire, and those that would fire too if the rules did not suppress them (docs/runbook.md explains why).
 * No other alert may fire or be suppressed.
 */

export interface AlertFault {
  readonly name: string;
  /** The affected chain; null for the whole service. */
  readonly chain: string | null;
  /** All of these must match the metrics once the fault has arrived. */
  readonly shows: readonly RegExp[];
  readonly fires: readonly string[];
  readonly leftOut: readonly string[];
}

type Follows = Partial<Pick<AlertFault, 'fires' | 'leftOut'>>;

const fault = <Chain extends string | null>(
  name: string,
  chain: Chain,
  shows: RegExp | readonly RegExp[],
  { fires = [], leftOut = [] }: Follows,
): AlertFault & { readonly chain: Chain } => ({ name, chain, shows: [shows].flat(), fires, leftOut });

const unready = (chain: string, code: string, { stage = '', cause = '' } = {}): RegExp =>
  new RegExp(
    `^verustream_unready_reason\\{chain="${chain}",stage="${stage}",code="${code}",cause="${cause}"\\} 1$`,
    'm',
  );

const above = (name: string, labels: string): RegExp => new RegExp(`^verustream_${name}\\{${labels}\\} [1-9]`, 'm');

/** Each fault has its own chain in the same program; the other chains continue. */
export const CHAIN_FAULTS = [
  fault('nothing is wrong', 'quiet', above('ready', 'chain="quiet"'), {}),
  fault(
    'prices wait for a chain that stands still',
    'ahead',
    /^verustream_stage_lag_blocks\{chain="ahead",stage="price"\} [2-9]\d$/m,
    {
      leftOut: ['FallsBehind'],
    },
  ),
  fault(
    'a daemon is dead until its chain stands still',
    'dead',
    unready('dead', 'stalled', { stage: 'tail', cause: '[a-z_]+' }),
    {
      fires: ['DaemonAway'],
      leftOut: ['ChainStandsStill', 'DaemonUnwell'],
    },
  ),
  fault('a daemon hangs', 'hung', unready('hung', 'daemon_timeout'), {
    fires: ['DaemonAway'],
    leftOut: ['DaemonUnwell'],
  }),
  fault('a daemon follows another chain', 'foreign', unready('foreign', 'wrong_chain'), {
    fires: ['DaemonAway'],
    leftOut: ['DaemonUnwell'],
  }),
  fault('one daemon of two is dead', 'pair', /^verustream_daemon_healthy\{chain="pair",daemon="2"\} 0$/m, {
    fires: ['DaemonUnwell'],
  }),
  fault('a chain stands still', 'still', unready('still', 'stalled', { stage: 'tail' }), {
    fires: ['ChainStandsStill'],
  }),
  fault(
    'a rewind below finality',
    'rewound',
    unready('rewound', 'stage_stopped', { stage: 'tail', cause: 'rewind_too_deep' }),
    {
      fires: ['StageStopped'],
    },
  ),
  fault('a stage is too slow', 'slow', /^verustream_stage_lag_blocks\{chain="slow",stage="tail"\} (2[1-9]|[3-9]\d)$/m, {
    fires: ['FallsBehind'],
  }),
  fault('the stores part', 'parted', above('digest_mismatches', 'chain="parted",check="audit"'), {
    fires: ['AuditDiffers'],
  }),
  fault(
    'conversions have lost their stamps in one store',
    'unstamped',
    above('conversions_without_stamp', 'chain="unstamped"'),
    {
      fires: ['AuditDiffers', 'StampsMissing'],
    },
  ),
  fault('a transaction cannot be decoded', 'undecodable', above('dead_letters', 'chain="undecodable"'), {
    fires: ['DeadLetters'],
  }),
  fault('a wallet holds coins', 'rich', above('daemon_wallet_holds', 'chain="rich",daemon="1"'), {
    fires: ['WalletHolds'],
  }),
] as const satisfies readonly AlertFault[];

const ofService = <Name extends string>(name: Name, shows: RegExp | readonly RegExp[], follows: Follows) =>
  ({ ...fault(name, 'quiet', shows, follows), name }) as AlertFault & { readonly name: Name };

/** Applied one after the other, in this order, to the same program, and checked with a chain that has no fault of its own. */
export const SERVICE_FAULTS = [
  ofService('one request of 300 fails', /request_duration_seconds_count\{.*status="502"\} 1$/m, {}),
  ofService('requests fail', /request_duration_seconds_count\{.*status="502"\} [2-9]$/m, { fires: ['ErrorRate'] }),
  ofService('requests take seconds', /request_duration_seconds_bucket\{le="2.5",.*raw.*status="200"\} [1-9]/m, {
    fires: ['Latency'],
  }),
  ofService(
    'the disk of the data folder is full',
    [
      /^verustream_disk_free_bytes\{folder="data"\} 0$/m,
      unready('quiet', 'stage_waiting', { stage: 'tail', cause: 'log_storage_full' }),
      above('stage_lag_blocks', 'chain="quiet",stage="tail"'),
    ],
    { fires: ['DiskLow', 'NoRoom', 'StageWaits'], leftOut: ['FallsBehind'] },
  ),
  ofService('ClickHouse has no disk space', unready('', 'clickhouse_overloaded'), { fires: ['NoRoom'] }),
  ofService('ClickHouse cannot be reached', unready('', 'clickhouse_unreachable'), { fires: ['StoreFails'] }),
  ofService(
    'Postgres cannot be reached',
    [unready('', 'postgres_unreachable'), /request_duration_seconds_count\{.*status="503"\} [1-9]/m],
    { fires: ['StoreFails'], leftOut: ['ErrorRate'] },
  ),
  ofService('the process is killed', /^$/, { fires: ['ProcessAway'] }),
] as const;

export type ServiceFault = (typeof SERVICE_FAULTS)[number]['name'];

/** Applied one after the other to processes of the deployment (topology.test.ts), where a live Prometheus shows when each has arrived. */
export const PROCESS_FAULTS = {
  serves: fault('a process that serves is killed', null, [], { fires: ['ProcessAway', 'WalletHolds'] }),
  daemon: fault('its daemon is dead too', null, [], {
    fires: ['DaemonAway', 'ProcessAway', 'WalletHolds'],
    leftOut: ['DaemonUnwell'],
  }),
  stage: fault('the process of a stage is killed as well', null, [], {
    fires: ['DaemonAway', 'ProcessAway', 'StageSilent', 'WalletHolds'],
    leftOut: ['DaemonUnwell'],
  }),
} as const;

export const ALERT_FAULTS: readonly AlertFault[] = [
  ...CHAIN_FAULTS,
  ...SERVICE_FAULTS,
  ...Object.values(PROCESS_FAULTS),
];
