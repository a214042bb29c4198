/** JSON Schema of a configuration file, and the environment variables for the same settings. */

import { I_ADDRESS } from '../../domain/addresses.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import { CHAIN_NAME, ROLES } from '../../schemas/config.ts';

const url = (schemes: string) => ({ type: 'string', pattern: `^(${schemes})://` });
const credits = {
  type: 'object',
  properties: { creditsPerMinute: { type: 'integer', minimum: 1 } },
  required: ['creditsPerMinute'],
  additionalProperties: false,
};
const plainDecimal = { type: 'string', pattern: '^\\d{1,20}(\\.\\d{1,30})?$' };
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?';
/** Value of a Host header: an ASCII name, an IPv4 address, or an IPv6 address in brackets, with an optional port. */
const HOST = `^(${LABEL}(\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])(:[1-9]\\d{0,4})?$`;
/** Address of a ZMQ publisher; only the transports that reach another process. */
const publisher = {
  pattern: '^(tcp://[^\\s/@:*]+:[1-9]\\d{0,4}|tcp://\\[[0-9A-Fa-f:.]+\\]:[1-9]\\d{0,4}|ipc:///\\S+)$',
};
const iAddress = { type: 'string', pattern: `^${I_ADDRESS}$` };

const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    chains: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'rpc'],
        properties: {
          name: { type: 'string', pattern: `^${CHAIN_NAME}$` },
          rpc: { ...url('https?'), type: ['string', 'array'], minItems: 1, uniqueItems: true, items: url('https?') },
          zmq: {
            ...publisher,
            type: ['string', 'array'],
            minItems: 1,
            items: { type: ['string', 'null'], ...publisher },
          },
          rootCurrency: { type: 'string', minLength: 1, maxLength: 64 },
          networkRoot: { type: 'string', minLength: 1, maxLength: 64 },
          stableAnchors: { type: 'array', items: iAddress },
          blockSeconds: { type: 'integer', minimum: 1, maximum: SECONDS_PER_DAY },
          finalityDepth: { type: 'integer', minimum: 1, maximum: 100000 },
          minBasketAge: { type: 'integer', minimum: 0 },
          requireEmptyWallet: { type: 'boolean' },
        },
      },
    },
    dataDir: { type: 'string', minLength: 1 },
    databaseUrl: url('postgres(ql)?'),
    clickhouseUrl: url('https?'),
    kafkaBrokers: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[^,\\s]+:\\d+$' } },
    roles: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ROLES } },
    host: { type: 'string', minLength: 1 },
    port: { type: 'integer', minimum: 0, maximum: 65535 },
    metricsPort: { type: 'integer', minimum: 0, maximum: 65535 },
    priceFeedUrls: { type: 'array', minItems: 1, items: url('https?') },
    trustedProxies: { type: 'array', items: { type: 'string', pattern: '^[0-9a-fA-F.:]+(/\\d{1,3})?$' } },
    publicHosts: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', maxLength: 255, pattern: HOST },
    },
    logLevel: { enum: LOG_LEVELS },
    cutover: { type: 'string', pattern: `^${TIME}$` },
    minListedDepthUsd: { type: 'number', minimum: 0 },
    minBasketDepthUsd: { type: 'number', minimum: 0 },
    priceLimits: {
      type: 'object',
      propertyNames: iAddress,
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        properties: { min: plainDecimal, max: plainDecimal },
      },
    },
    marks: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['from', 'to', 'text'],
        properties: {
          from: { type: 'string', pattern: `^${TIME}$` },
          to: { type: 'string', pattern: `^${TIME}$` },
          chains: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string' } },
          text: { type: 'string', minLength: 1, maxLength: 500 },
          link: { ...url('https?'), maxLength: 500 },
        },
      },
    },
    priceFeedIds: { type: 'object', propertyNames: iAddress, additionalProperties: { type: 'string' } },
    tiers: {
      type: 'object',
      additionalProperties: false,
      properties: { free: credits, developer: credits, pro: credits },
    },
    keylessRequestsPerMinute: { type: 'integer', minimum: 1 },
    webhookLocalReceivers: { type: 'boolean' },
    datasets: {
      type: 'object',
      additionalProperties: false,
      properties: {
        folder: { type: 'string', minLength: 1, pattern: "^[^*?{}\\\\'\\n]+$" },
        refreshSeconds: { type: 'integer', minimum: 0, maximum: SECONDS_PER_DAY },
        bytesPerHour: { type: 'integer', minimum: 1 },
        url: { type: 'string', pattern: '^https?://[^\\s/?#]+$' },
      },
    },
    demoBlockSeconds: { type: 'integer', minimum: 1, maximum: 3600 },
  },
} as const;

type Member = keyof (typeof CONFIG_SCHEMA)['properties'];

const list = (text: string) => text.split(',').map((part) => part.trim());
const boolean = (text: string) => (text === 'true' || text === 'false' ? text === 'true' : text);
const integer = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

/** Maps each variable to the member of the schema that it sets and the function that reads its text. */
export const ENVIRONMENT: Readonly<Record<string, { member: Member; read: (text: string) => unknown }>> = {
  DATA_DIR: { member: 'dataDir', read: String },
  DATABASE_URL: { member: 'databaseUrl', read: String },
  CLICKHOUSE_URL: { member: 'clickhouseUrl', read: String },
  KAFKA_BROKERS: { member: 'kafkaBrokers', read: list },
  ROLES: { member: 'roles', read: list },
  HOST: { member: 'host', read: String },
  PORT: { member: 'port', read: integer },
  METRICS_PORT: { member: 'metricsPort', read: integer },
  PRICE_FEED_URL: { member: 'priceFeedUrls', read: list },
  TRUSTED_PROXIES: { member: 'trustedProxies', read: list },
  WEBHOOK_LOCAL_RECEIVERS: { member: 'webhookLocalReceivers', read: boolean },
  PUBLIC_HOSTS: { member: 'publicHosts', read: list },
  DEMO_BLOCK_SECONDS: { member: 'demoBlockSeconds', read: integer },
  LOG_LEVEL: { member: 'logLevel', read: String },
};
