/** Every metric of the process, prefix verustream_, base units. Labels: chain, stage, route template, place of a daemon; never an address. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createCountedHistogram } from './counted-histogram.ts';

export const registry = new Registry();
/** What the histogram of the event loop's lag wakes the process for; the 10 ms that are usual are most of what an idle process does. */
const LAG_MS = 100;
collectDefaultMetrics({ register: registry, prefix: 'verustream_', eventLoopMonitoringPrecision: LAG_MS });

const registers = [registry];

export const metrics = {
  tipHeight: new Gauge({
    name: 'verustream_tip_height',
    help: 'Newest block of the daemon',
    labelNames: ['chain'],
    registers,
  }),
  tipTime: new Gauge({
    name: 'verustream_tip_time_seconds',
    help: 'Block time of the newest block in the log',
    labelNames: ['chain'],
    registers,
  }),
  stageHeight: new Gauge({
    name: 'verustream_stage_height',
    help: 'Newest block that a stage has processed',
    labelNames: ['chain', 'stage'],
    registers,
  }),
  stageLag: new Gauge({
    name: 'verustream_stage_lag_blocks',
    help: 'Blocks by which the stage is behind the daemon',
    labelNames: ['chain', 'stage'],
    registers,
  }),
  stageState: new Gauge({
    name: 'verustream_stage_state',
    help: '1 for the current state of a stage of this process',
    labelNames: ['chain', 'stage', 'state'],
    registers,
  }),
  ready: new Gauge({
    name: 'verustream_ready',
    help: '1 while /api/health/ready?chain= answers 200',
    labelNames: ['chain'],
    registers,
  }),
  unready: new Gauge({
    name: 'verustream_unready_reason',
    help: '1 while /api/health/ready names the reason, 0 once it no longer does; a reason about the stores has no chain',
    labelNames: ['chain', 'stage', 'code', 'cause'],
    registers,
  }),
  priceWaits: new Gauge({
    name: 'verustream_price_waits',
    help: '1 while prices of a chain wait for the clock of another chain',
    labelNames: ['chain'],
    registers,
  }),
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
  deadLetters: new Gauge({
    name: 'verustream_dead_letters',
    help: 'Blocks or outputs that could not be decoded',
    labelNames: ['chain'],
    registers,
  }),
  digestMismatches: new Gauge({
    name: 'verustream_digest_mismatches',
    help: 'Places where the stores differ (check="audit") or tables that differ from the log (check="verify"), as of the last check',
    labelNames: ['chain', 'check'],
    registers,
  }),
  invariantViolations: new Gauge({
    name: 'verustream_invariant_violations',
    help: '1 while rows of a chain break an invariant',
    labelNames: ['chain'],
    registers,
  }),
  conversionsWithoutStamp: new Gauge({
    name: 'verustream_conversions_without_stamp',
    help: 'Settled conversions without a stamp that the served prices have passed: 0 unless something is broken',
    labelNames: ['chain'],
    registers,
  }),
  priceBlocksAhead: new Gauge({
    name: 'verustream_price_blocks_ahead',
    help: 'Blocks with provisional prices: the clock of another chain has not passed them yet',
    labelNames: ['chain'],
    registers,
  }),
  priceWaitsFor: new Gauge({
    name: 'verustream_price_waits_for_chain',
    help: '1 for the chain whose clock is furthest behind, so that blocks of other chains wait for it',
    labelNames: ['chain'],
    registers,
  }),
  requestSeconds: createCountedHistogram<'route' | 'method' | 'status'>({
    name: 'verustream_http_request_duration_seconds',
    help: 'HTTP requests by route template',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  }),
  diskFree: new Gauge({
    name: 'verustream_disk_free_bytes',
    help: 'Space that the service may still use on the disk of its data folder',
    labelNames: ['folder'],
    registers,
  }),
  diskSize: new Gauge({
    name: 'verustream_disk_size_bytes',
    help: 'Size of the disk of the data folder',
    labelNames: ['folder'],
    registers,
  }),
  websocketClients: new Gauge({ name: 'verustream_websocket_clients', help: 'Open WebSocket connections', registers }),
  websocketBufferedBytes: new Gauge({
    name: 'verustream_websocket_buffered_bytes',
    help: 'Bytes waiting for slow WebSocket clients',
    registers,
  }),
  webhookSeconds: new Histogram({
    name: 'verustream_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  }),
  webhooksPending: new Gauge({
    name: 'verustream_webhook_deliveries_pending',
    help: 'Webhook deliveries that wait for an attempt, counted once a minute',
    registers,
  }),
  upstreamSeconds: new Histogram({
    name: 'verustream_upstream_rpc_seconds',
    help: 'Calls to a daemon',
    labelNames: ['chain', 'method', 'outcome'],
    registers,
  }),
  daemonHealthy: new Gauge({
    name: 'verustream_daemon_healthy',
    help: '1 while a daemon answers, serves its chain and keeps up with its peers; daemons are numbered from 1 in configuration order',
    labelNames: ['chain', 'daemon'],
    registers,
  }),
  daemonPublisherHeard: new Gauge({
    name: 'verustream_daemon_publisher_heard',
    help: "1 while a daemon's ZMQ publisher names the blocks that come; absent for a daemon without one in the configuration",
    labelNames: ['chain', 'daemon'],
    registers,
  }),
  daemonNotifications: new Counter({
    name: 'verustream_daemon_notifications_total',
    help: "Messages of a daemon's ZMQ publisher, by topic",
    labelNames: ['chain', 'daemon', 'topic'],
    registers,
  }),
  daemonWalletHolds: new Gauge({
    name: 'verustream_daemon_wallet_holds',
    help: '1 when the last answer of a daemon said that its wallet holds coins or shielded addresses',
    labelNames: ['chain', 'daemon'],
    registers,
  }),
  daemonWalletAnswered: new Gauge({
    name: 'verustream_daemon_wallet_answered_time_seconds',
    help: 'When a daemon last reported what its wallet holds',
    labelNames: ['chain', 'daemon'],
    registers,
  }),
  mempoolListed: new Gauge({
    name: 'verustream_mempool_transactions',
    help: 'Transactions in the mempool of the daemon',
    labelNames: ['chain'],
    registers,
  }),
  mempoolWithheld: new Gauge({
    name: 'verustream_mempool_withheld_transactions',
    help: 'Of these, how many are not shown: no room for their fee rate, or not readable',
    labelNames: ['chain'],
    registers,
  }),
  mempoolBytes: new Gauge({
    name: 'verustream_mempool_bytes',
    help: 'Memory that the shown transactions take, about',
    labelNames: ['chain'],
    registers,
  }),
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
  estimateUnpaid: new Counter({
    name: 'verustream_mempool_estimate_unpaid_total',
    help: 'Estimated conversions that brought nothing, by the status that they came to',
    labelNames: ['chain', 'status'],
    registers,
  }),
};
