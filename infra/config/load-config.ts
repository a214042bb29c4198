/** Reads the configuration from the environment and one optional JSON file; a wrong value prevents the start. */
import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import ipaddr from 'ipaddr.js';
import { isIdentityAddress } from '../../domain/addresses.ts';
import { type ChainConfig, type Config, type Mark, ROLES } from '../../schemas/config.ts';
import { messageOf, PermanentError } from '../../schemas/errors.ts';
import { readServerAddress } from '../server-address.ts';
import {
  CHAIN_DEFAULTS,
  DEMO_CHAINS,
  MAIN_CHAINS,
  MAIN_MARKS,
  NETWORK_ROOTS,
  RESERVED_NAMES,
} from './chain-defaults.ts';
import { CONFIG_SCHEMA, ENVIRONMENT } from './config-schema.ts';
import { parseJsonFile } from './json-syntax.ts';

class ConfigInvalid extends PermanentError {
  constructor(problems: readonly string[]) {
    super('config_invalid', `The configuration is wrong: ${problems.join('; ')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type RawChain = Pick<ChainConfig, 'name' | 'rpc'> & Partial<ChainConfig>;
type RawMark = Pick<Mark, 'text'> & Partial<Pick<Mark, 'chains' | 'link'>> & { from: string; to: string };
type Raw = Partial<Omit<Config, 'chains' | 'cutover' | 'demo' | 'recordings' | 'marks'>> & {
  chains?: RawChain[];
  cutover?: string;
  marks?: RawMark[];
};

const CONFIG_VARIABLE = 'VERUSTREAM_CONFIG';
const DEFAULT_CUTOVER = '2026-04-24T00:00:00Z';
// A test validates the schema against JSON Schema: doing so at each start would take longer than compiling the schema.
const OPTIONS = { allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false };
const validate = new Ajv(OPTIONS).compile<Raw>(CONFIG_SCHEMA);

/** @throws ConfigInvalid, which names every wrong setting, its value and the allowed values */
export function loadConfig(environment: Environment): Config {
  refuseMisspelt(environment);
  const source = new Map<string, string>(); // path of a member → variable that set it, for the message
  const file = environment[CONFIG_VARIABLE];
  const raw: Record<string, unknown> = file ? readFile(file) : {};
  for (const [variable, { member, read }] of Object.entries(ENVIRONMENT)) {
    const text = environment[variable];
    if (text === undefined || text === '') continue;
    raw[member] = read(text);
    source.set(member, variable);
  }
  addDaemons(raw, environment, source);
  addPublishers(raw, environment, source);
  if (!validate(raw)) {
    // A wrong name already has an error that lists the allowed ones.
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'propertyNames');
    throw new ConfigInvalid(errors.map((error) => describe(error, source)));
  }
  const config = effective(raw);
  const problems = contradictions(config, source);
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return config;
}

const daemonVariable = (chain: string) => `VERUSD_${chain.toUpperCase()}`;
const DAEMON_VARIABLES = MAIN_CHAINS.map(({ name }) => daemonVariable(name));

/** A misspelt variable would silently start the demo, or leave out a chain. Kubernetes, too, sets variables that begin with VERUSD_. */
function refuseMisspelt(environment: Environment): void {
  const problems = Object.entries(environment).flatMap(([variable, text = '']) => {
    if (/^verustream_conf/i.test(variable) && variable !== CONFIG_VARIABLE && text !== '')
      return [`there is no variable ${variable}; allowed is ${CONFIG_VARIABLE}`];
    const isMeant =
      /^verusd_/i.test(variable) && (/^https?:\/\/|@/i.test(text) || (/_zmq$/i.test(variable) && text !== ''));
    if (!isMeant || DAEMON_VARIABLES.includes(variable.replace(/_ZMQ$/, ''))) return [];
    return [
      `there is no variable ${variable}; allowed are ${DAEMON_VARIABLES.join(', ')}, each also with _ZMQ; the file of ${CONFIG_VARIABLE} takes other chains`,
    ];
  });
  if (problems.length > 0) throw new ConfigInvalid(problems);
}

function readFile(path: string): Record<string, unknown> {
  try {
    const value = parseJsonFile(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    throw new SyntaxError('not a JSON object');
  } catch (cause) {
    throw new ConfigInvalid([`VERUSTREAM_CONFIG ${path}: ${messageOf(cause)}`]);
  }
}

/** Returns the chains that the environment may add to; null if they are invalid, so that the schema reports them before they are replaced. */
function chainsOf({ chains = [] }: Record<string, unknown>): RawChain[] | null {
  return Array.isArray(chains) && chains.every(isMergeable) ? chains : null;
}

function isMergeable(chain: unknown): boolean {
  if (typeof chain !== 'object' || chain === null || Array.isArray(chain)) return false;
  const { rpc = [], zmq = [] } = chain as { rpc?: unknown; zmq?: unknown };
  const isText = (value: unknown) => typeof value === 'string';
  return (
    [rpc].flat().every(isText) &&
    (isText(zmq) || (Array.isArray(zmq) && zmq.every((one) => one === null || isText(one))))
  );
}

/** VERUSD_<CHAIN> adds a main chain, or replaces the address of a chain in the file. */
function addDaemons(raw: Record<string, unknown>, environment: Environment, source: Map<string, string>): void {
  for (const { name } of MAIN_CHAINS) {
    const addresses = environment[daemonVariable(name)];
    if (!addresses) continue;
    const rpc = addresses.includes(',') ? addresses.split(',').map((address) => address.trim()) : addresses;
    const chains = chainsOf(raw);
    if (!chains) return;
    const known = chains.find((chain) => chain.name === name);
    raw.chains = known
      ? chains.map((chain) => (chain === known ? { ...chain, rpc } : chain))
      : [...chains, { name, rpc }];
    source.set(`chains.${known ? chains.indexOf(known) : chains.length}.rpc`, daemonVariable(name));
  }
}

/** VERUSD_<CHAIN>_ZMQ lists the publishers of that chain's daemons, in their order; an empty entry is a daemon without a publisher. */
function addPublishers(raw: Record<string, unknown>, environment: Environment, source: Map<string, string>): void {
  for (const { name } of MAIN_CHAINS) {
    const variable = `${daemonVariable(name)}_ZMQ`;
    const text = environment[variable];
    if (!text) continue;
    const chains = chainsOf(raw);
    if (!chains) return;
    if (!chains.some((chain) => chain.name === name)) {
      throw new ConfigInvalid([`${variable}: no daemon of ${name} is configured; set ${daemonVariable(name)} too`]);
    }
    const zmq = text.split(',').map((address) => address.trim() || null);
    source.set(`chains.${chains.findIndex((chain) => chain.name === name)}.zmq`, variable);
    raw.chains = chains.map((chain) => (chain.name === name ? { ...chain, zmq } : chain));
  }
}

function effective(raw: Raw): Config {
  const chains = raw.chains ? raw.chains.map(withDefaults) : DEMO_CHAINS;
  return {
    chains,
    marks: marksOf(raw.marks, chains),
    demo: raw.chains === undefined,
    demoBlockSeconds: raw.demoBlockSeconds ?? 6,
    recordings: [],
    dataDir: raw.dataDir ?? './data',
    databaseUrl: raw.databaseUrl ?? null,
    clickhouseUrl: raw.clickhouseUrl ?? null,
    kafkaBrokers: raw.kafkaBrokers ?? null,
    roles: raw.roles ?? ROLES,
    host: raw.host ?? '127.0.0.1',
    port: raw.port ?? 8080,
    metricsPort: raw.metricsPort ?? null,
    priceFeedUrls: raw.priceFeedUrls ?? [],
    trustedProxies: raw.trustedProxies ?? [],
    publicHosts: raw.publicHosts ?? null,
    logLevel: raw.logLevel ?? 'info',
    cutover: Date.parse(raw.cutover ?? DEFAULT_CUTOVER) / 1000,
    minListedDepthUsd: raw.minListedDepthUsd ?? 10_000,
    minBasketDepthUsd: raw.minBasketDepthUsd ?? 1_000,
    priceLimits: raw.priceLimits ?? {},
    priceFeedIds: raw.priceFeedIds ?? {},
    tiers: {
      free: { creditsPerMinute: 60 },
      developer: { creditsPerMinute: 150 },
      pro: { creditsPerMinute: 500 },
      ...raw.tiers,
    },
    keylessRequestsPerMinute: raw.keylessRequestsPerMinute ?? 100,
    webhookLocalReceivers: raw.webhookLocalReceivers ?? false,
    datasets: { folder: null, refreshSeconds: 300, bytesPerHour: 2_000_000_000, url: null, ...raw.datasets },
  };
}

function withDefaults(chain: RawChain, _: number, all: readonly RawChain[]): ChainConfig {
  const main = MAIN_CHAINS.find(({ name }) => name === chain.name);
  const rootCurrency = rootCurrencyOf(chain);
  return { ...CHAIN_DEFAULTS, ...main, ...chain, rootCurrency, networkRoot: networkRootOf(chain, all) };
}

const isoSeconds = (moment: number) => new Date(moment * 1000).toISOString();
const seconds = (text: string) => Date.parse(text) / 1000;

/** Without marks in the file, returns those of MAIN_MARKS that concern the configured chains. */
function marksOf(raw: readonly RawMark[] | undefined, chains: readonly ChainConfig[]): Mark[] {
  const names = chains.map(({ name }) => name);
  const marks = raw
    ? raw.map(({ from, to, chains: of = names, link = null, text }) => {
        return { from: seconds(from), to: seconds(to), chains: of, text, link };
      })
    : MAIN_MARKS.map((mark) => ({ ...mark, chains: mark.chains.filter((name) => names.includes(name)) }));
  return marks.filter((mark) => mark.chains.length > 0).sort((a, b) => a.from - b.from);
}

function rootCurrencyOf({ name, rootCurrency }: RawChain): string {
  return rootCurrency ?? MAIN_CHAINS.find((main) => main.name === name)?.rootCurrency ?? name.toUpperCase();
}

/** A chain that is neither a root nor a main chain was launched by the configured root; without one, it is its own root. */
function networkRootOf(chain: RawChain, all: readonly RawChain[]): string {
  const own = rootCurrencyOf(chain);
  if (chain.networkRoot !== undefined) return chain.networkRoot;
  if (NETWORK_ROOTS.includes(own)) return own;
  const main = MAIN_CHAINS.find(({ rootCurrency }) => rootCurrency === own);
  return main?.networkRoot ?? all.map(rootCurrencyOf).find((name) => NETWORK_ROOTS.includes(name)) ?? own;
}

/** Does not include the address, because it contains the password. */
const UNREADABLE =
  'is not the address of one server: in its user and password, percent-encode everything but letters and digits (/ is %2F, @ is %40)';

function unreadableAddresses(
  { chains, demo, databaseUrl, clickhouseUrl, priceFeedUrls }: Config,
  source: ReadonlyMap<string, string>,
): string[] {
  const settings: [string, string | readonly string[] | null][] = [
    ['DATABASE_URL', databaseUrl],
    ['CLICKHOUSE_URL', clickhouseUrl],
    ['PRICE_FEED_URL', priceFeedUrls],
  ];
  if (!demo) {
    for (const [index, { name, rpc }] of chains.entries()) {
      settings.push([source.get(`chains.${index}.rpc`) ?? `rpc of ${name}`, rpc]);
    }
  }
  const wrong = settings.filter(([, addresses]) => [addresses ?? []].flat().some((one) => !readServerAddress(one)));
  return wrong.map(([setting]) => `${setting} ${UNREADABLE}`);
}

/** Refuses the short and octal forms of IPv4, in which 10.1/16 is 10.0.0.1/16 and 010.0.0.1 is 8.0.0.1. */
function isSubnet(text: string): boolean {
  const [address = ''] = text.split('/');
  const isPlain = ipaddr.IPv6.isValid(address) || ipaddr.IPv4.isValidFourPartDecimal(address);
  return isPlain && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text));
}

/** The schema checks only their letters: a mistyped anchor would leave every price of its chain out, without an error. */
function mistypedCurrencies({ chains, priceLimits, priceFeedIds }: Config): string[] {
  const settings: [string, readonly string[]][] = [
    ...chains.map(({ name, stableAnchors }): [string, readonly string[]] => [
      `stableAnchors of ${name}`,
      stableAnchors,
    ]),
    ['priceLimits', Object.keys(priceLimits)],
    ['priceFeedIds', Object.keys(priceFeedIds)],
  ];
  return settings.flatMap(([setting, ids]) => {
    const mistyped = ids.filter((id) => !isIdentityAddress(id));
    return mistyped.map((id) => `${setting}: "${id}" has a typo: the checksum of an i-address has to fit`);
  });
}

function contradictions(config: Config, source: ReadonlyMap<string, string>): string[] {
  const problems = [...unreadableAddresses(config, source), ...mistypedCurrencies(config)];
  const names = config.chains.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) problems.push(`chains: the name "${twice}" is used twice`);
  for (const { name, rpc, zmq } of config.chains) {
    const [daemons, publishers] = [rpc, zmq ?? []].map((addresses) => [addresses].flat().length);
    if (zmq === undefined || publishers === daemons) continue;
    problems.push(
      `zmq of ${name} has ${publishers} addresses for ${daemons} daemons: give one for each, null for a daemon that publishes nothing`,
    );
  }
  const reserved = names.find((name) => RESERVED_NAMES.includes(name));
  if (reserved) {
    problems.push(`chains: "${reserved}" is an address of the service itself, and so are ${RESERVED_NAMES.join(', ')}`);
  }
  if (Number.isNaN(config.cutover)) problems.push('cutover is not a date');
  for (const [currencyId, { min, max }] of Object.entries(config.priceLimits)) {
    if (min !== undefined && max !== undefined && Number(min) > Number(max)) {
      problems.push(`priceLimits of ${currencyId}: min ${min} is above max ${max}`);
    }
  }
  for (const { from, to, chains } of config.marks) {
    if (Number.isNaN(from) || Number.isNaN(to)) problems.push('marks: from or to is not a date');
    else if (from >= to) problems.push(`marks: from ${isoSeconds(from)} is not before to ${isoSeconds(to)}`);
    const unknown = chains.filter((name) => !names.includes(name));
    if (unknown.length > 0) problems.push(`marks: chain "${unknown.join('", "')}" is not one of ${names.join(', ')}`);
  }
  const strange = config.trustedProxies.filter((proxy) => !isSubnet(proxy));
  if (strange.length > 0) problems.push(`TRUSTED_PROXIES: "${strange.join('", "')}" is neither an address nor a CIDR`);
  const embedded = [
    ...(config.kafkaBrokers ? [] : ['KAFKA_BROKERS']),
    ...(config.databaseUrl ? [] : ['DATABASE_URL']),
    ...(config.clickhouseUrl ? [] : ['CLICKHOUSE_URL']),
  ];
  if (config.roles.length < ROLES.length && embedded.length > 0) {
    problems.push(
      `ROLES "${config.roles.join(',')}" also needs ${embedded.join(', ')}: one process must own the embedded stores`,
    );
  }
  return problems;
}

function describe(error: ErrorObject, source: ReadonlyMap<string, string>): string {
  const path = error.instancePath.slice(1).split('/').filter(Boolean);
  const variable = source.get(path.slice(0, 3).join('.')) ?? source.get(path[0] ?? '');
  const where = variable ?? (path.join('.') || 'the file');
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'additionalProperties') {
    const allowed = Object.keys((error.parentSchema?.properties ?? {}) as object).join(', ');
    return `${where}: unknown member "${params.additionalProperty}", allowed are ${allowed}`;
  }
  if (error.keyword === 'required') return `${[...path, params.missingProperty].join('.')} is missing`;
  const allowed = error.keyword === 'enum' ? `one of ${(params.allowedValues as unknown[]).join(', ')}` : error.message;
  return `${where}: ${givenText(error)} ${error.keyword === 'enum' ? 'is not' : ''} ${allowed}`.replace(/ +/g, ' ');
}

/** Hides any text that is not a valid address: a comma in a password splits an address into a list of its pieces. */
function givenText({ propertyName, data, parentSchema }: ErrorObject): string {
  const { pattern, items } = { ...parentSchema } as { pattern?: string; items?: { pattern?: string } };
  const isAddress = /:\/\/$/.test(pattern ?? items?.pattern ?? '');
  const isShown = (text: string) => !isAddress || (text.includes('://') && readServerAddress(text) !== null);
  return maskUrl(
    JSON.stringify(propertyName ?? data, (_, value) => (typeof value !== 'string' || isShown(value) ? value : '***')),
  );
}

/** Masks, in JSON text, the credentials before the @ of an address, with or without a scheme, and keys in its query. */
function maskUrl(text: string): string {
  return text
    .replace(/"(\w+:\/\/)?(?:[^"\\]|\\.)*@/g, '"$1***@')
    .replace(/([?&][^=&"]*(?:key|token|secret|password)[^=&"]*=)[^&"]*/gi, '$1***');
}

/** Returns the effective configuration as readable JSON with secrets masked. */
export function printableConfig(config: Config): string {
  const marks = config.marks.map((mark) => ({ ...mark, from: isoSeconds(mark.from), to: isoSeconds(mark.to) }));
  return maskUrl(JSON.stringify({ ...config, cutover: isoSeconds(config.cutover), marks }, null, 2));
}
