import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_SCHEMA } from './config-schema.ts';
import { loadConfig, printableConfig } from './load-config.ts';

function file(content: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'verustream-config-')), 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const CURRENCY = 'i8PKS1ssNcZq5pVrHTfx31VWYLpNdg7rJ9';
/** Not an i-address: its last character differs. */
const TYPO = `${CURRENCY.slice(0, -1)}${CURRENCY.endsWith('1') ? '2' : '1'}`;
const RPC = 'http://user:secret@127.0.0.1:27486';

const WHOLE = {
  chains: [{ name: 'mine', rpc: RPC }],
  priceLimits: { [CURRENCY]: { min: '1' } },
  marks: [
    {
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00Z',
      chains: ['mine'],
      text: 'x',
      link: 'https://example.org',
    },
  ],
  priceFeedIds: { [CURRENCY]: 'verus' },
  datasets: { folder: '/data', refreshSeconds: 60, bytesPerHour: 1, url: 'https://example.org' },
  tiers: { free: { creditsPerMinute: 1 }, developer: { creditsPerMinute: 1 }, pro: { creditsPerMinute: 1 } },
};
/** Settings whose members may have any name. */
const OPEN = new Set(['priceLimits', 'priceFeedIds']);

interface Schema {
  readonly enum?: readonly unknown[];
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

/** Returns members at all depths; one element represents a list, and one currency represents a table of currencies. */
function membersOf(
  { properties = {}, required = [], items, additionalProperties }: Schema,
  at: readonly string[],
): Member[] {
  const inner = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
  if (items?.properties) inner.push({ name: '0', schema: items, required: false });
  if (typeof additionalProperties === 'object')
    inner.push({ name: CURRENCY, schema: additionalProperties, required: false });
  return inner.flatMap(({ name, schema, required: isRequired }): Member[] => {
    const path = [...at, name];
    return [{ path, required: isRequired, isObject: schema.type === 'object' }, ...membersOf(schema, path)];
  });
}

interface Member {
  readonly path: readonly string[];
  readonly required: boolean;
  readonly isObject: boolean;
}

/** WHOLE with a changed value at a path. */
function changed(path: readonly string[], change: (value: unknown) => unknown): unknown {
  const copy: Record<string, unknown> = structuredClone(WHOLE);
  const parent = path.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, copy);
  const name = path.at(-1) ?? '';
  parent[name] = change(parent[name]);
  return copy;
}

describe('loadConfig', () => {
  it('has a schema that is valid JSON Schema, which loadConfig itself does not check', () => {
    const ajv = new Ajv();
    expect(ajv.validateSchema(CONFIG_SCHEMA) ? null : ajv.errors).toBeNull();
    expect(ajv.validateSchema({ ...CONFIG_SCHEMA, type: 'thing' })).toBe(false);
  });

  it('without any settings returns the recorded demo on embedded stores', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({ demo: true, databaseUrl: null, kafkaBrokers: null, port: 8080, dataDir: './data' });
    expect(config.chains[0]).toMatchObject({ rootCurrency: 'VRSCTEST', minBasketAge: 20 });
  });

  it.each([
    ['VERUSD_VRCS', RPC, /no variable VERUSD_VRCS; allowed are VERUSD_VRSC, VERUSD_VARRR, VERUSD_VDEX, VERUSD_CHIPS/],
    ['VERUSD_PURE', 'user:secret@127.0.0.1:1', /no variable VERUSD_PURE;.*VERUSTREAM_CONFIG takes other chains/],
    ['verusd_vrsc', RPC, /no variable verusd_vrsc;/],
    ['VERUSD_VRCS_ZMQ', 'tcp://10.0.0.1:28332', /no variable VERUSD_VRCS_ZMQ;/],
    [
      'VERUSTREAM_CONFIG_FILE',
      '/etc/verustream.json',
      /no variable VERUSTREAM_CONFIG_FILE; allowed is VERUSTREAM_CONFIG$/,
    ],
  ])('refuses the misspelt variable %s without showing its value', (variable, value, said) => {
    const load = () => loadConfig({ [variable]: value });
    expect(load).toThrow(said);
    expect(load).not.toThrow(/secret/);
  });

  it('ignores what Kubernetes sets for services named verusd and verustream, and empty variables', () => {
    const others = {
      VERUSD_PORT: 'tcp://10.96.0.10:27486',
      VERUSD_PORT_27486_TCP: 'tcp://10.96.0.10:27486',
      VERUSD_SERVICE_HOST: '10.96.0.10',
      VERUSTREAM_SERVICE_PORT: '8080',
      VERUSTREAM_KEY: 'x',
      VERUSD_VRCS: '',
    };
    expect(loadConfig(others)).toEqual(loadConfig({}));
  });

  it('accepts one publisher per daemon, and an empty entry for a daemon without one', () => {
    const both = { VERUSD_VRSC: `${RPC},${RPC.replace('27486', '27487')}`, VERUSD_VRSC_ZMQ: 'tcp://10.0.0.1:28332,' };
    expect(loadConfig(both).chains[0]?.zmq).toEqual(['tcp://10.0.0.1:28332', null]);
    for (const zmq of ['tcp://[::1]:28332', 'ipc:///run/verusd.sock', 'tcp://daemon.example:1']) {
      expect(loadConfig({ VERUSD_VRSC: RPC, VERUSD_VRSC_ZMQ: zmq }).chains[0]?.zmq).toEqual([zmq]);
    }
  });

  it.each([
    ['http://10.0.0.1:28332', /VERUSD_VRSC_ZMQ.*http:.*pattern/],
    ['tcp://10.0.0.1', /pattern/],
    ['tcp://user:password@10.0.0.1:28332', /pattern/],
    ['tcp://*:28332 ', /pattern/],
    ['inproc://here', /pattern/],
    ['tcp://10.0.0.1:28332,tcp://10.0.0.2:28332', /zmq of vrsc has 2 addresses for 1 daemons.*null/],
  ])('refuses %s as publishers', (zmq, said) => {
    expect(() => loadConfig({ VERUSD_VRSC: RPC, VERUSD_VRSC_ZMQ: zmq })).toThrow(said);
    expect(() => loadConfig({ VERUSD_CHIPS: RPC, VERUSD_VRSC_ZMQ: zmq })).toThrow(/no daemon of vrsc is configured/);
  });

  it('reads the main chains from VERUSD_* with their built-in values', () => {
    const config = loadConfig({ VERUSD_VRSC: RPC, VERUSD_CHIPS: RPC });
    expect(config.demo).toBe(false);
    expect(config.chains.map((chain) => [chain.name, chain.rootCurrency, chain.blockSeconds])).toEqual([
      ['vrsc', 'VRSC', 60],
      ['chips', 'CHIPS', 10],
    ]);
    expect(config.chains[0]?.stableAnchors).toHaveLength(3);
  });

  it.each([
    [
      ['VRSC', 'vARRR'],
      ['VRSC', 'VRSC'],
    ],
    [['CHIPS'], ['VRSC']],
    [
      ['VRSCTEST', 'pchain'],
      ['VRSCTEST', 'VRSCTEST'],
    ],
    [
      ['pchain', 'VRSCTEST', 'VRSC'],
      ['VRSCTEST', 'VRSCTEST', 'VRSC'],
    ],
    [['MINE'], ['MINE']],
  ])('the names of chains with root currencies %j end in %j', (own, roots) => {
    const chains = own.map((rootCurrency, index) => ({ name: `c${index}`, rpc: RPC, rootCurrency }));
    const config = loadConfig({ VERUSTREAM_CONFIG: file({ chains }) });
    expect(config.chains.map(({ networkRoot }) => networkRoot)).toEqual(roots);
  });

  it('uses the network root in the file', () => {
    const chains = [{ name: 'pchain', rpc: RPC, rootCurrency: 'pchain', networkRoot: 'VRSCTEST' }];
    expect(loadConfig({ VERUSTREAM_CONFIG: file({ chains }) }).chains[0]?.networkRoot).toBe('VRSCTEST');
  });

  it('reads the file, and the environment overrides it', () => {
    const path = file({
      port: 1000,
      chains: [{ name: 'mine', rpc: RPC, rootCurrency: 'MINE' }],
      cutover: '2026-01-01T00:00:00Z',
    });
    const config = loadConfig({ VERUSTREAM_CONFIG: path, PORT: '2000' });
    expect(config.port).toBe(2000);
    expect(config.cutover).toBe(Date.UTC(2026, 0, 1) / 1000);
    expect(config.chains[0]).toMatchObject({ name: 'mine', finalityDepth: 100, minBasketAge: 1000 });
  });

  it('accepts several daemons of a chain, and masks each of them', () => {
    const config = loadConfig({ VERUSD_VRSC: `${RPC}, ${RPC.replace('27486', '27487')}` });
    expect(config.chains[0]?.rpc).toEqual([RPC, RPC.replace('27486', '27487')]);
    expect(printableConfig(config)).not.toContain('secret');
    expect(() => loadConfig({ VERUSD_VRSC: `${RPC},ftp://x` })).toThrow(/VERUSD_VRSC: "ftp:\/\/x" must match pattern/);
    expect(() => loadConfig({ VERUSD_VRSC: `${RPC},${RPC}` })).toThrow(/duplicate/);
  });

  it.each([
    [{ PORT: '80a' }, /PORT: "80a" must be integer/],
    [{ PORT: '70000' }, /PORT: 70000 must be <= 65535/],
    [{ ROLES: 'tail,cook' }, /ROLES: "cook" is not one of tail, derive, price, serve/],
    [{ ROLES: 'tail' }, /KAFKA_BROKERS, DATABASE_URL, CLICKHOUSE_URL/],
    [
      { TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/99' },
      /TRUSTED_PROXIES: "10\.0\.0\.0\/99" is neither an address nor a CIDR/,
    ],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL: "loud" is not one of trace/],
    [{ VERUSD_VRSC: 'ftp://x' }, /: VERUSD_VRSC: "ftp:\/\/x" must match pattern/],
    [{ VERUSD_VRSC: RPC, VERUSD_CHIPS: 'x' }, /: VERUSD_CHIPS: /],
    [{ VERUSD_VRSC: RPC, VERUSD_VRSC_ZMQ: 'http://x' }, /: VERUSD_VRSC_ZMQ: "http:\/\/x" must match pattern/],
    [{ DATABASE_URL: 'mysql://x' }, /DATABASE_URL: "mysql:\/\/x"/],
    [{ VERUSTREAM_CONFIG: '/nowhere/config.json' }, /\/nowhere\/config\.json: ENOENT/],
  ])('refuses %j', (environment, message) => {
    expect(() => loadConfig(environment)).toThrow(message);
  });

  // inet_aton would read these as 10.0.0.1/16, 1.2.0.3, 8.0.0.1 and 0.0.0.10/8.
  it.each(['10.1/16', '1.2.3', '010.0.0.1', '10/8'])('refuses the proxy %s', (proxy) => {
    const message = `TRUSTED_PROXIES: "${proxy}" is neither an address nor a CIDR`;
    expect(() => loadConfig({ TRUSTED_PROXIES: proxy })).toThrow(message);
  });

  it.each([
    ['{"prot": 1}', /unknown member "prot", allowed are chains, dataDir/],
    ['[1]', /not a JSON object/],
    ['{', /not valid JSON at line 1, column 2/],
    ['{\n  "port": 80,\n}', /not valid JSON at line 3, column 1/],
    [{ chains: [{ name: 'vrsc' }] }, /chains\.0\.rpc is missing/],
    [{ chains: [{ name: 'market', rpc: RPC }] }, /"market" is an address of the service itself/],
    [
      {
        chains: [
          { name: 'a', rpc: RPC },
          { name: 'a', rpc: RPC },
        ],
      },
      /"a" is used twice/,
    ],
    [{ cutover: 'yesterday' }, /cutover: "yesterday" must match/],
    [{ priceLimits: { [CURRENCY]: { max: 2 } } }, /priceLimits.*max/],
    [{ priceLimits: { [CURRENCY]: {} } }, /priceLimits/],
    [{ priceLimits: { bitcoin: { max: '2' } } }, /priceLimits/],
    [{ priceLimits: { [CURRENCY]: { min: '3', max: '2' } } }, /min 3 is above max 2/],
    [
      { chains: [{ name: 'a', rpc: RPC, stableAnchors: [CURRENCY, TYPO] }] },
      `stableAnchors of a: "${TYPO}" has a typo`,
    ],
    [{ priceLimits: { [TYPO]: { min: '3' } } }, `priceLimits: "${TYPO}" has a typo`],
    [{ priceFeedIds: { [TYPO]: 'dai' } }, `priceFeedIds: "${TYPO}" has a typo`],
  ])('refuses the file %j', (content, message) => {
    expect(() => loadConfig({ VERUSTREAM_CONFIG: file(content) })).toThrow(message);
  });

  it.each([
    [{ tiers: { developer: {} } }, /tiers\.developer\.creditsPerMinute is missing/],
    [{ tiers: { gold: { creditsPerMinute: 1 } } }, /tiers: unknown member "gold", allowed are free, developer, pro/],
    [{ tiers: { pro: { credits: 1 } } }, /tiers\.pro: unknown member "credits", allowed are creditsPerMinute/],
    [{ tiers: { free: { creditsPerMinute: 0 } } }, /tiers\.free\.creditsPerMinute: 0 must be >= 1/],
    [{ priceLimits: { bitcoin: { max: '2' } } }, /priceLimits: "bitcoin" must match pattern/],
  ])('names the member that is wrong in %j', (content, message) => {
    expect(() => loadConfig({ VERUSTREAM_CONFIG: file(content) })).toThrow(message);
  });

  it('accepts some of the tiers and keeps the defaults of the others', () => {
    const { tiers } = loadConfig({ VERUSTREAM_CONFIG: file({ tiers: { developer: { creditsPerMinute: 300 } } }) });
    expect(tiers).toEqual({
      free: { creditsPerMinute: 60 },
      developer: { creditsPerMinute: 300 },
      pro: { creditsPerMinute: 500 },
    });
  });

  it('has the built-in marks of the configured main chains, unless the file has its own marks', () => {
    const marksOf = (content: object) => loadConfig({ VERUSTREAM_CONFIG: file({ ...content }) }).marks;
    const two = { chains: ['mine', 'chips'].map((name) => ({ name, rpc: RPC })) };
    expect(marksOf(two)).toMatchObject([
      {
        from: Date.parse('2026-05-17T00:00:00Z') / 1000,
        to: Date.parse('2026-07-07T17:00:00Z') / 1000,
        chains: ['chips'],
      },
    ]);
    expect(loadConfig({}).marks).toEqual([]);
    expect(marksOf({ ...two, marks: [] })).toEqual([]);
    const span = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', text: 'x' };
    expect(marksOf({ ...two, marks: [span] })).toEqual([
      { from: 1_767_225_600, to: 1_767_312_000, chains: ['mine', 'chips'], text: 'x', link: null },
    ]);
    const printed = printableConfig(loadConfig({ VERUSTREAM_CONFIG: file({ ...two, marks: [span] }) }));
    expect(JSON.parse(printed).marks[0]).toMatchObject({ from: '2026-01-01T00:00:00.000Z' });
    for (const [wrong, message] of [
      [{ ...span, to: span.from }, 'marks: from 2026-01-01T00:00:00.000Z is not before to'],
      [{ ...span, to: '2026-13-01T00:00:00Z' }, 'marks: from or to is not a date'],
      [{ ...span, chains: ['none'] }, 'marks: chain "none" is not one of mine, chips'],
    ] as const)
      expect(() => marksOf({ ...two, marks: [wrong] })).toThrow(message);
  });

  it('names each member of the schema that is missing, unknown or of a wrong type', () => {
    const messageOf = (content: unknown): string => {
      try {
        loadConfig({ VERUSTREAM_CONFIG: file(content) });
      } catch (error) {
        return (error as Error).message;
      }
      return 'accepted';
    };
    const members = membersOf(CONFIG_SCHEMA, []);
    expect(members.length).toBeGreaterThan(30);
    for (const { path, required, isObject } of members) {
      const name = path.join('.');
      const wrong = isObject ? 5 : { wrong: true };
      expect(messageOf(changed(path, () => wrong)), name).toContain(`${name}: ${JSON.stringify(wrong)}`);
      if (required) expect(messageOf(changed(path, () => undefined)), name).toContain(`${name} is missing`);
      const unknown = messageOf(changed(path, (value) => ({ ...(value as object), strange: 1 })));
      if (isObject && !OPEN.has(name))
        expect(unknown, name).toContain(`${name}: unknown member "strange", allowed are `);
    }
  });

  it('reports what is wrong with any chains of the file, even if the environment replaces parts of them', () => {
    const parts = {
      name: fc.oneof(fc.constantFrom('vrsc', 'chips'), fc.jsonValue()),
      rpc: fc.oneof(fc.constant(RPC), fc.jsonValue()),
      zmq: fc.oneof(fc.constant('tcp://10.0.0.1:28332'), fc.jsonValue()),
    };
    const chain = fc.oneof(fc.record(parts, { requiredKeys: [] }), fc.jsonValue());
    const environments = fc.record(
      { VERUSD_VRSC: fc.constant(RPC), VERUSD_CHIPS_ZMQ: fc.constant('tcp://10.0.0.1:28332') },
      { requiredKeys: [] },
    );
    const hasAddress = ({ rpc }: { rpc?: unknown }) =>
      rpc === undefined || [rpc].flat().every((address) => typeof address === 'string');
    let taken = 0;
    const law = (chains: unknown, environment: Record<string, string>) => {
      try {
        loadConfig({ ...environment, VERUSTREAM_CONFIG: file({ chains }) });
        taken++;
        expect(chains).toSatisfy((all: readonly object[]) => Array.isArray(all) && all.every(hasAddress));
      } catch (error) {
        expect(error).toMatchObject({ code: 'config_invalid' });
      }
    };
    const examples: [unknown, Record<string, string>][] = [null, 'vrsc', [null], [{ name: 'vrsc', rpc: 5 }]].map(
      (chains) => [chains, { VERUSD_VRSC: RPC }],
    );
    examples.push([[{ name: 'vrsc' }], { VERUSD_VRSC: RPC }]);
    fc.assert(fc.property(fc.oneof(fc.array(chain, { maxLength: 3 }), fc.jsonValue()), environments, law), {
      examples,
    });
    expect(taken).toBeGreaterThan(0);
  });

  it('shows no password in the printed configuration or in errors', () => {
    expect(printableConfig(loadConfig({ VERUSD_VRSC: RPC, DATABASE_URL: 'postgres://me:secret@db/x' }))).not.toContain(
      'secret',
    );
    expect(() => loadConfig({ CLICKHOUSE_URL: 'tcp://me:secret@db' })).toThrow(/\*\*\*@db/);
  });
});
