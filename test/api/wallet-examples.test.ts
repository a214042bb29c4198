/**
 * The programs of examples/wallets/, each in both languages, with JSON-RPC in front of the recorded node. The user's own daemon is the
 * recorded node if the recording has an answer (decrypting), and a scripted double if it has none (funding, signing).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readCases } from '../../recordings/player/recorded-calls.ts';
import { ROOT } from '../house/source-files.ts';
import { RECORDING, type RecordedService, startRecordedService } from '../support/api/rpc/recorded-service.ts';
import { startWalletDouble, type WalletScript } from './wallet-double.ts';

const ALICE = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';
const BASKET = 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ';
const USDX = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';
const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const KEY = 'iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG';
const SECOND_KEY = 'iLEXwzfR3uG73vkPLrwe2A4eqt1sUcNFZY';
const ENCRYPTED_KEY = 'i4aGzy9ViE3eZAc3P2K4VTNTf5yVBgR3i3';
const PENDING = '9b0d613ed4b5ab8c3e0d47921fe8c4a8782d02679ea722cc2252a58d7cae9935';
/** An update of bob@ that is in block 846 of both branches. */
const ON_BOTH_BRANCHES = 'b261d70931bbf4e1d94434c09f9762843edf68d8ddb0a9df4831e8091825d170';

let service: RecordedService;
let wallet: Awaited<ReturnType<typeof startWalletDouble>>;
/** Bodies that the service was sent. */
const received: string[] = [];
const asIs = (body: string) => body;
let askInstead = asIs;
let answerInstead = (_method: string, body: string) => body;
/** Status with which every call is refused; null for none. */
let refusal: number | null = null;
const front = createServer(async (request, response) => {
  const body = await readText(request);
  if (refusal !== null) return void response.writeHead(refusal).end('<html>');
  received.push(body);
  const { status, text } = await service.post(askInstead(body));
  response.writeHead(status).end(answerInstead(JSON.parse(body).method, text));
});
const url = () => `http://127.0.0.1:${(front.address() as AddressInfo).port}/`;

const cases = new Map([...readCases(RECORDING)].map((recorded) => [recorded.name, recorded]));
function recorded<Result>(name: string): {
  readonly params: [Record<string, unknown>, ...unknown[]];
  readonly result: Result;
} {
  const found = cases.get(name);
  if (!found || !('body' in found)) throw new Error(`the recording has no ${name}`);
  return { params: JSON.parse(found.request).params, result: JSON.parse(found.body).result as Result };
}

beforeAll(async () => {
  service = await startRecordedService();
  wallet = await startWalletDouble({ user: 'me', password: 'p@ss' });
  await once(front.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  askInstead = asIs;
  answerInstead = (_method, body) => body;
  refusal = null;
  service.node.advanceTo(service.node.tip);
  received.length = 0;
  wallet.methods.length = 0;
});
afterAll(async () => {
  for (const program of running) program.kill('SIGKILL');
  front.close();
  await wallet?.stop();
  await service?.stop();
});

const running = new Set<ChildProcess>();
const LANGUAGES = ['ts', 'py'] as const;

interface Run {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

function start(language: 'ts' | 'py', name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const file = join(ROOT, 'examples/wallets', language === 'ts' ? `${name}.ts` : `${name.replaceAll('-', '_')}.py`);
  const [command, ...flags] =
    language === 'ts' ? [process.execPath, '--disable-warning=ExperimentalWarning'] : ['python3', '-B'];
  const program = spawn(command ?? '', [...flags, file, url(), ...args], { env: { ...process.env, ...env } });
  running.add(program);
  program.once('exit', () => running.delete(program));
  let out = '';
  program.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const err = readText(program.stderr);
  const ended = once(program, 'close').then(async ([code]): Promise<Run> => ({ out, err: await err, code }));
  return { ended, said: () => out };
}

/** Runs a program in both languages; both must print the same. */
async function run(name: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Run> {
  const [first, second] = await Promise.all(LANGUAGES.map((language) => start(language, name, args, env).ended));
  if (!first) throw new Error('nothing ran');
  if (second)
    expect({ out: second.out, code: second.code, python: second.err }).toMatchObject({
      out: first.out,
      code: first.code,
    });
  return first;
}

it('verify-payment counts the outputs of a transaction exactly, once they are deep enough, and not after a reorganisation', async () => {
  const ask = (amount: string) => run('verify-payment', [ALICE, BASKET, amount, '505', '3']);
  service.node.advanceTo(511);
  expect(await ask('2.37637597')).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /in block 510, 2 conf.*\nnot paid: 0\.00000000 of 2\.37637597, 2\.37637597 with fewer than 3/,
    ),
  });
  service.node.advanceTo(512);
  expect(await ask('2.37637597')).toMatchObject({
    code: 0,
    out: expect.stringContaining('\npaid: 2.37637597 of 2.37637597\n'),
  });
  service.node.back(3);
  expect(await ask('2.37637597')).toEqual({ code: 1, err: '', out: 'not paid: 0.00000000 of 2.37637597\n' });
});

it('verify-payment counts neither change nor an output that others can spend', async () => {
  service.node.advanceTo(260);
  const change = await run('verify-payment', [ALICE, USDX, '980000', '248']);
  expect(change).toMatchObject({ code: 1, out: 'not paid: 0.00000000 of 980000.00000000\n' });
  expect((await run('verify-payment', [ALICE, NATIVE, '1000', '161', '1'])).out).toContain(
    ' pays 1000.00000000 in block 161',
  );
  // Scripted: the recording has no output that pays two at once.
  answerInstead = (method, body) =>
    method === 'getrawtransaction'
      ? body.replaceAll(`"addresses":["${ALICE}"]`, `"addresses":["${ALICE}","RThief"]`)
      : body;
  const shared = await run('verify-payment', [ALICE, NATIVE, '1000', '161', '1']);
  expect(shared).toMatchObject({ code: 1, out: expect.stringContaining('is not counted: others can spend it too') });
});

it('verify-payment distinguishes amounts that are the same double', async () => {
  service.node.advanceTo(162);
  // Scripted: the recording moves no amount that a double cannot hold.
  answerInstead = (method, body) =>
    method === 'getaddressdeltas' ? body.replaceAll(':1000.00000000', ':90071992.54740993') : body;
  const ask = (amount: string) => run('verify-payment', [ALICE, NATIVE, amount, '161', '1']);
  expect(await ask('90071992.54740993')).toMatchObject({
    code: 0,
    out: expect.stringContaining(' pays 90071992.54740993 '),
  });
  expect(await ask('90071992.54740994')).toMatchObject({ code: 1 });
});

it('watch-identity follows an update through a reorganisation', async () => {
  service.node.branch('orphan', 848);
  const args = ['bob@', '12', ON_BOTH_BRANCHES];
  const watchers = LANGUAGES.map((language) => start(language, 'watch-identity', args, { POLL_SECONDS: '0.02' }));
  const allSay = (words: string) => expect.poll(() => watchers.every(({ said }) => said().includes(words))).toBe(true);
  await allSay('has 3 confirmations, in block 846');
  // Scripted: what the daemon says of a transaction in the mempool, which the recording does not show at this height.
  answerInstead = (method, body) =>
    method === 'getrawtransaction' ? '{"result":{"expiryheight":900},"error":null,"id":1}' : body;
  await allSay('taken back by a reorganisation');
  await allSay('is pending');
  answerInstead = (_method, body) => body;
  service.node.advanceTo(857);
  for (const { code, out } of await Promise.all(watchers.map(({ ended }) => ended))) {
    expect(code).toBe(0);
    expect(out.split('\n').slice(-3)).toEqual([
      `${ON_BOTH_BRANCHES} has 12 confirmations, in block 846`,
      'confirmed: the state of the identity',
      '',
    ]);
  }
});

it('watch-identity ends when its credentials are refused', async () => {
  refusal = 401;
  const { code, err } = await run('watch-identity', ['bob@', '1', PENDING], { POLL_SECONDS: '0.02' });
  expect(code).toBe(1);
  expect(err).toContain('HTTP 401 without an answer');
});

it('watch-identity finds an update in the mempool, and gives it up when it has expired', async () => {
  const watchers = LANGUAGES.map((language) => start(language, 'watch-identity', ['bob@'], { POLL_SECONDS: '0.02' }));
  await expect.poll(() => watchers.every(({ said }) => said() === `${PENDING} is pending\n`)).toBe(true);
  // Scripted: the recording ends while it is pending.
  answerInstead = (method, body) => {
    if (method === 'getrawtransaction') return '{"result":null,"error":{"code":-5,"message":"No information"},"id":1}';
    return method === 'getblockchaininfo' ? '{"result":{"blocks":2000},"error":null,"id":1}' : body;
  };
  for (const { code, out } of await Promise.all(watchers.map(({ ended }) => ended))) {
    expect(code).toBe(1);
    expect(out).toMatch(/is pending\n.* expired at block \d+: build, check and sign it anew\n$/);
  }
});

/** The recording has height -1 of some identities only; the identities used here have nothing in the mempool. */
const withoutMempool = (body: string) => body.replace('@",-1]', '@"]').replace('@", -1]', '@"]');

interface Merged {
  readonly name: string;
  readonly parent: string;
  readonly contentmultimap: Readonly<Record<string, string[]>>;
  readonly replaces: { readonly txid: string; readonly vout: number };
}

it('merge-multimap keeps every kind of value as the chain stores it, lists in lists too', async () => {
  askInstead = withoutMempool;
  const merge = async (name: string, changes: object) => {
    const { out, err } = await run('merge-multimap', [name, JSON.stringify(changes)]);
    expect(err).toBe('');
    const { replaces, ...request } = JSON.parse(out) as Merged;
    expect(replaces).toEqual({ txid: expect.stringMatching(/^[0-9a-f]{64}$/), vout: expect.any(Number) });
    return request;
  };
  const printed = recorded<{ identity: { contentmultimap: Record<string, [{ objectdata: string; epk: string }[]]> } }>(
    'getidentitycontent/encrypted',
  ).result.identity.contentmultimap[ENCRYPTED_KEY]?.[0] as unknown as Record<
    string,
    { objectdata: string; epk: string }
  >[];
  const erin = await merge('erin@', { [KEY]: ['c0ffee'] });
  expect(erin).toEqual({
    name: 'erin',
    parent: NATIVE,
    contentmultimap: { [ENCRYPTED_KEY]: [expect.any(String)], [KEY]: ['c0ffee'] },
  });
  const [stored = ''] = erin.contentmultimap[ENCRYPTED_KEY] ?? [];
  expect(printed.length).toBe(2);
  for (const { objectdata, epk } of printed.flatMap((value) => Object.values(value))) {
    expect(stored).toContain(objectdata);
    expect(stored).toContain(epk);
  }

  service.node.advanceTo(265);
  expect((await merge('alice@', { [SECOND_KEY]: ['00'] })).contentmultimap).toEqual({
    [KEY]: ['68656c6c6f20776f726c64', 'c0ffee'],
    [SECOND_KEY]: ['00'],
  });
  service.node.advanceTo(268);
  const objects = (await merge('alice@', { [KEY]: null })).contentmultimap;
  expect(Object.keys(objects)).toEqual([SECOND_KEY]);
  expect(objects[SECOND_KEY]?.[0]).toContain(Buffer.from('data descriptor message').toString('hex'));
});

it.each([[['c0ffee']], [{ data: { message: 'm' } }]])(
  'merge-multimap refuses %j, which would be lost or disclosed',
  async (value) => {
    const refused = await run('merge-multimap', ['bob@', JSON.stringify({ [KEY]: [value] })]);
    expect(refused).toMatchObject({ out: '', code: 1, err: expect.stringMatching(/is not kept|use your own/) });
  },
);

const scriptOf = (changes: Partial<WalletScript> = {}): WalletScript => ({
  identities: {
    'bob@': JSON.stringify(recorded('getidentity/bob-mempool').result),
    'vault@': JSON.stringify(recorded('getidentity/locked-mempool').result),
  },
  blocks: 1551,
  signed: { hex: String(recorded('sendrawtransaction/already-in-mempool').params[0]), txid: PENDING },
  fee: '0.00010000',
  complete: true,
  ...changes,
});
const home = () => ({ WALLET_URL: wallet.url });
const update = recorded<string>('updateidentity/returntx').params[0];
const perLanguage = (method: string) => wallet.methods.filter((called) => called === method).length / LANGUAGES.length;
const sent = () => received.filter((body) => body.includes('sendrawtransaction'));

it("update-identity has the service build and send what the user's own daemon checks, funds and signs", async () => {
  wallet.script = scriptOf();
  expect(await run('update-identity', ['bob@', JSON.stringify(update)], home())).toEqual({
    out: `sent ${PENDING}\n`,
    err: '',
    code: 0,
  });
  expect(perLanguage('signrawtransaction')).toBe(1);
  expect(sent()).toHaveLength(LANGUAGES.length);
});

it('update-identity signs an update of the state that was merged, and of no other', async () => {
  wallet.script = scriptOf();
  const { txid, vout } = recorded<{ txid: string; vout: number }>('getidentity/bob-mempool').result;
  const ask = (replaces: object) => run('update-identity', ['bob@', JSON.stringify({ ...update, replaces })], home());
  expect(await ask({ txid, vout })).toMatchObject({ out: `sent ${PENDING}\n`, code: 0 });
  expect(received.join()).not.toContain('replaces');
  const before = sent().length;
  const refused = await ask({ txid: ON_BOTH_BRANCHES, vout });
  expect(refused).toMatchObject({ out: '', code: 1, err: expect.stringMatching(/updated after .* was merged/) });
  expect(sent()).toHaveLength(before);
});

it.each([
  ['an update with other keys', 'updateidentity/dup-primary', /primaryaddresses would be/],
  ['one that loses the map', 'updateidentity/bad-hex', /the keys would be none/],
  ['one of another identity', 'updateidentity/revoked', /nothing else/],
  ['a lock', 'setidentitytimelock/returntx-delay', /(flags|timelock) would be/],
])('update-identity signs nothing when the service returns %s', async (_what, other, words) => {
  wallet.script = scriptOf();
  answerInstead = (method, body) =>
    method === 'updateidentity' ? `{"result":"${recorded(other).result}","error":null,"id":1}` : body;
  const refused = await run('update-identity', ['bob@', JSON.stringify(update)], home());
  expect(refused).toMatchObject({ out: '', code: 1, err: expect.stringMatching(words) });
  expect(perLanguage('signrawtransaction')).toBe(0);
  expect(sent()).toEqual([]);
});

it.each([
  ['a fee above the bound', { fee: '0.01000001' }, /fee would be 0\.01000001, more than 0\.01/],
  ['a signature that is missing', { complete: false }, /more signatures are needed/],
  ['a transaction that stays valid for long', { blocks: 1400 }, /it must expire by block 1500, not at 1572/],
  ['a transaction that is about to expire', { blocks: 1569 }, /it expires at block 1572/],
])('update-identity sends nothing with %s', async (_what, changes, words) => {
  wallet.script = scriptOf(changes);
  const refused = await run('update-identity', ['bob@', JSON.stringify(update)], home());
  expect(refused).toMatchObject({ out: '', code: 1, err: expect.stringMatching(words) });
  expect(sent()).toEqual([]);
});

it.each([
  ['bob@', ['delay', '10'], 'locked, with a delay of 10'],
  ['bob@', ['until', '1751'], 'free to spend from block 1752'],
  ['vault@', ['until', '0'], 'free to spend from block 2073'],
])('lock-identity %s %j reports the resulting lock', async (name, args, words) => {
  wallet.script = scriptOf();
  const locked = await run('lock-identity', [name, ...args], { ...home(), DROP_MAP: 'yes' });
  expect(locked).toEqual({ out: `sent ${PENDING}: ${words}\n`, err: '', code: 0 });
});

it('lock-identity drops no contentmultimap unless it is asked to', async () => {
  wallet.script = scriptOf();
  const refused = await run('lock-identity', ['bob@', 'delay', '10'], home());
  expect(refused).toMatchObject({ out: '', code: 1, err: expect.stringContaining('would lose its contentmultimap') });
  expect(perLanguage('signrawtransaction')).toBe(0);
});

it("decrypt-data shows the viewing key to the user's own daemon only", async () => {
  const evk = String(recorded('decryptdata/identity-0-txid-retrieve').params[0].evk);
  const found = await run('decrypt-data', ['erin@', ENCRYPTED_KEY], { WALLET_URL: service.node.url, VIEWING_KEY: evk });
  expect(found).toEqual({ out: 'secretlabel\tsecret kept in an identity\n'.repeat(2), err: '', code: 0 });
  expect(received.length).toBe(LANGUAGES.length);
  expect(received.join()).not.toMatch(/decryptdata|zxviews/);
});

it.each(['decrypt-data', 'lock-identity', 'merge-multimap', 'update-identity', 'verify-payment', 'watch-identity'])(
  '%s without its arguments prints its usage, exit code 2',
  async (name) => {
    for (const language of LANGUAGES) {
      const { code, out, err } = await start(language, name, []).ended;
      expect([language, code, out, err]).toEqual([language, 2, '', expect.stringMatching(/^usage: .* SERVICE .*\n$/)]);
    }
  },
);

it('programs that sign ask for the address of the own daemon', async () => {
  for (const language of LANGUAGES) {
    const { code, err } = await start(language, 'update-identity', ['bob@', '{}'], { WALLET_URL: '' }).ended;
    expect([language, code, err]).toEqual([language, 2, expect.stringMatching(/^WALLET_URL is missing: .*\n$/)]);
  }
});
