/** All metrics of the process: prefix verustream_, base units. Labels are chain, stage, route template or daemon number, never an address. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createCountedHistogram } from './counted-histogram.ts';

export const registry = new Registry();
/** Interval at which event loop lag is sampled. The default of 10 ms would be most of the work of an idle process. */
const LAG_MS = 100;
collectDefaultMetrics({ register: registry, prefix: 'verustream_', eventLoopMonitoringPrecision: LAG_MS });

const registers = [registry];
const gauge = <const Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
): Gauge<Label> => new Gauge({ name, help, labelNames, registers });
const counter = <const Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
): Counter<Label> => new Counter({ name, help, labelNames, registers });

export const metrics = {
  tipHeight: gauge('verustream_tip_height', 'Newest block of the daemon', ['chain']),
  tipTime: gauge('verustream_tip_time_seconds', 'Block time of the newest block in the log', ['chain']),
  stageHeight: gauge('verustream_stage_height', 'Newest block that a stage has processed', ['chain', 'stage']),
  stageLag: gauge('verustream_stage_lag_blocks', 'Blocks by which the stage is behind the daemon', ['chain', 'stage']),
  stageState: gauge('verustream_stage_state', '1 for the current state of a stage of this process', [
    'chain',
    'stage',
    'state',
  ]),
  ready: gauge('verustream_ready', '1 while /api/health/ready?chain= answers 200', ['chain']),
  unready: gauge(
    'verustream_unready_reason',
    '1 while /api/health/ready names the reason, 0 once it no longer does; a reason about the stores has no chain',
    ['chain', 'stage', 'code', 'cause'],
  ),
  priceWaits: gauge('verustream_price_waits', '1 while prices of a chain wait for the clock of another chain', [
    'chain',
  ]),
  rewindDepth: new Histogram({
    name: 'verustream_rewind_depth_blocks',
    help: 'Blocks removed by a reorganisation',
    labelNames: ['chain'],
    buckets: [1, 2, 3, 5, 10, 20, 50, 100],
    registers,
  }),
  batchSeconds: new Histogram({
    name: 'verustream_batch_seconds',
    help: 'Time to derive and store one batch',
    labelNames: ['chain', 'stage'],
    registers,
  }),
  deadLetters: gauge('verustream_dead_letters', 'Blocks or outputs that could not be decoded', ['chain']),
  digestMismatches: gauge(
    'verustream_digest_mismatches',
    'Places where the stores differ (check="audit") or tables that differ from the log (check="verify"), as of the last check',
    ['chain', 'check'],
  ),
  invariantViolations: gauge('verustream_invariant_violations', '1 while rows of a chain break an invariant', [
    'chain',
  ]),
  conversionsWithoutStamp: gauge(
    'verustream_conversions_without_stamp',
    'Settled conversions without a stamp that the served prices have passed: 0 unless something is broken',
    ['chain'],
  ),
  priceBlocksAhead: gauge(
    'verustream_price_blocks_ahead',
    'Blocks with provisional prices: the clock of another chain has not passed them yet',
    ['chain'],
  ),
  priceWaitsFor: gauge(
    'verustream_price_waits_for_chain',
    '1 for the chain whose clock is furthest behind, so that blocks of other chains wait for it',
    ['chain'],
  ),
  requestSeconds: createCountedHistogram<'route' | 'method' | 'status'>({
    name: 'verustream_http_request_duration_seconds',
    help: 'HTTP requests by route template',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  }),
  diskFree: gauge('verustream_disk_free_bytes', 'Space that the service may still use on the disk of its data folder', [
    'folder',
  ]),
  diskSize: gauge('verustream_disk_size_bytes', 'Size of the disk of the data folder', ['folder']),
  websocketClients: gauge('verustream_websocket_clients', 'Open WebSocket connections'),
  websocketBufferedBytes: gauge('verustream_websocket_buffered_bytes', 'Bytes waiting for slow WebSocket clients'),
  webhookSeconds: new Histogram({
    name: 'verustream_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  }),
  webhooksPending: gauge(
    'verustream_webhook_deliveries_pending',
    'Webhook deliveries that wait for an attempt, counted once a minute',
  ),
  upstreamSeconds: new Histogram({
    name: 'verustream_upstream_rpc_seconds',
    help: 'Calls to a daemon',
    labelNames: ['chain', 'method', 'outcome'],
    registers,
  }),
  daemonHealthy: gauge(
    'verustream_daemon_healthy',
    '1 while a daemon answers, serves its chain and keeps up with its peers; daemons are numbered from 1 in configuration order',
    ['chain', 'daemon'],
  ),
  daemonPublisherHeard: gauge(
    'verustream_daemon_publisher_heard',
    "1 while a daemon's ZMQ publisher names the blocks that come; absent for a daemon without one in the configuration",
    ['chain', 'daemon'],
  ),
  daemonNotifications: counter(
    'verustream_daemon_notifications_total',
    "Messages of a daemon's ZMQ publisher, by topic",
    ['chain', 'daemon', 'topic'],
  ),
  daemonWalletHolds: gauge(
    'verustream_daemon_wallet_holds',
    '1 when the last answer of a daemon said that its wallet holds coins or shielded addresses',
    ['chain', 'daemon'],
  ),
  daemonWalletAnswered: gauge(
    'verustream_daemon_wallet_answered_time_seconds',
    'When a daemon last reported what its wallet holds',
    ['chain', 'daemon'],
  ),
  mempoolListed: gauge('verustream_mempool_transactions', 'Transactions in the mempool of the daemon', ['chain']),
  mempoolWithheld: gauge(
    'verustream_mempool_withheld_transactions',
    'Of these, how many are not shown: no room for their fee rate, or not readable',
    ['chain'],
  ),
  mempoolBytes: gauge('verustream_mempool_bytes', 'Memory that the shown transactions take, about', ['chain']),
  mempoolLookSeconds: new Histogram({
    name: 'verustream_mempool_look_seconds',
    help: 'Time to compare the mempool of the daemon with what is shown of it',
    labelNames: ['chain', 'outcome'],
    registers,
  }),
  estimateError: new Histogram({
    name: 'verustream_mempool_estimate_error_ratio',
    help: 'Distance of the last estimate of a waiting conversion from what it brought, as a share of that',
    labelNames: ['chain'],
    buckets: [0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  }),
  estimateUnpaid: counter(
    'verustream_mempool_estimate_unpaid_total',
    'Estimated conversions that brought nothing, by the status that they came to',
    ['chain', 'status'],
  ),
};
