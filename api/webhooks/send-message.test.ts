/** One attempt at receivers that behave badly, and the refusal of every address that is not public. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkReceiverUrl, isPublic, type Resolve, receiverPolicy } from './receiver-address.ts';
import { createResolve, resolveBySystem } from './resolve-name.ts';
import { newSecret } from './secrets.ts';
import { createSender, type Outcome, type Sender } from './send-message.ts';
import { startNameServer } from './testing/name-server.ts';
import {
  answers,
  type Behaviour,
  drips,
  endless,
  hangs,
  type Receiver,
  startReceiver,
  verified,
} from './testing/receiver.ts';

const never = new AbortController().signal;
const secret = newSecret();
const message = (url: string, secrets = [secret]) => ({ id: 'msg_1', url, body: '{"type":"test"}', secrets });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

async function sendOnce(sender: Sender, url: string, secrets?: string[]): Promise<Outcome> {
  try {
    return await sender.send(message(url, secrets), never);
  } finally {
    await sender.close();
  }
}

describe('an attempt', () => {
  const sender = (timeoutMs = 10_000) =>
    createSender({ allows: receiverPolicy(true), userAgent: 'test', timeoutMs, resolve: resolveBySystem });

  it('is signed by each secret, as the official library checks it', async () => {
    const old = newSecret();
    expect(await sendOnce(sender(), receiver.url, [secret, old])).toEqual({ kind: 'delivered', status: 204 });
    const [one] = receiver.received.slice(-1);
    if (!one) throw new Error('nothing came');
    expect(verified(one, secret)).toEqual({ type: 'test' });
    expect(verified(one, old)).toEqual({ type: 'test' });
    expect(() => verified(one, newSecret())).toThrow(/No matching signature/);
    expect(() => verified({ ...one, body: `${one.body} ` }, secret)).toThrow(/No matching signature/);
  });

  const failed = (status: number | null, error: RegExp, retryAfterMs: number | null = null) => ({
    kind: 'failed',
    status,
    error: expect.stringMatching(error),
    retryAfterMs,
  });
  it.each<[string, Behaviour, unknown]>([
    ['fails', answers(500), failed(500, /answered 500/)],
    ['is gone', answers(410), { kind: 'gone', status: 410 }],
    ['asks for time', answers(429, { 'retry-after': '120' }), failed(429, /429/, 120_000)],
    ['asks for years', answers(503, { 'retry-after': '99999999' }), failed(503, /503/, 36_000_000)],
    ['hangs', hangs, failed(null, /no answer within 1 s/)],
    ['breaks off', (response) => void response.destroy(), failed(null, /could not be sent: \w+/)],
    ['answers 10 GB', endless, { kind: 'delivered', status: 200 }],
    ['drips for ever', drips, { kind: 'delivered', status: 200 }],
    ['sends 1 MB of headers', answers(200, { x: 'y'.repeat(1_000_000) }), failed(null, /UND_ERR_HEADERS_OVERFLOW/)],
  ])('at a receiver that %s', async (_, behaviour, outcome) => {
    receiver.behave(behaviour);
    const before = process.memoryUsage().arrayBuffers;
    expect(await sendOnce(sender(1_000), receiver.url)).toEqual(outcome);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i)', async (status) => {
    const target = await startReceiver();
    receiver.behave(answers(status, { location: target.url }));
    expect(await sendOnce(sender(), receiver.url)).toEqual(failed(status, /redirects are not followed/));
    expect(target.received).toEqual([]);
    await target.close();
  });

  it('ends with the signal', async () => {
    receiver.behave(hangs);
    const stop = new AbortController();
    const hanging = sender();
    const sent = hanging.send(message(receiver.url), stop.signal);
    setTimeout(() => stop.abort(new Error('stopping')), 50);
    await expect(sent).rejects.toThrow('stopping');
    await hanging.close();
  });
});

const FORBIDDEN = [
  ['private', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', 'fc00::1', 'fd12:3456::1'],
  ['loopback', '127.0.0.1', '127.255.0.3', '::1'],
  ['link-local', '169.254.0.1', 'fe80::1', 'fec0::1'],
  ['metadata of clouds', '169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  ['mapped and embedded', '::ffff:127.0.0.1', '::ffff:a00:1', '::7f00:1', '64:ff9b::a00:1', '2002:7f00:1::', '2001::1'],
  ['shared, reserved, documentation', '100.64.0.1', '0.0.0.0', '0.1.2.3', '::', '192.0.2.1', '198.18.0.1', '240.0.0.1'],
  ['multicast and broadcast', '224.0.0.1', '255.255.255.255', 'ff02::1'],
] as const;
const ADDRESSES = FORBIDDEN.flatMap(([what, ...addresses]) => addresses.map((address) => [what, address] as const));

describe('addresses', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '93.184.216.34'])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  const sender = (resolve = resolveBySystem) =>
    createSender({ allows: receiverPolicy(false), userAgent: 'test', resolve });
  const refused = { kind: 'failed', status: null, error: expect.stringMatching(/not public/), retryAfterMs: null };

  it.each(ADDRESSES)('%s: %s is refused when registered and when connected to', async (_, address) => {
    const url = `https://${address.includes(':') ? `[${address}]` : address}/`;
    expect(() => checkReceiverUrl(url, false)).toThrow(/not public/);
    expect(await sendOnce(sender(), url)).toEqual(refused);
  });

  it.each([
    'https://2130706433/',
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://①②⑦.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[0:0:0:0:0:ffff:7f00:1]/',
  ])('the form %s too', async (url) => {
    expect(() => checkReceiverUrl(url, false)).toThrow(/not public/);
    expect(await sendOnce(sender(), url)).toEqual(refused);
  });

  it.each(ADDRESSES)('%s: a name that means %s is refused, whatever else it means', async (_, address) => {
    const family = address.includes(':') ? 6 : 4;
    const resolve: Resolve = (_name, _options, done) =>
      done(null, [
        { address: '93.184.216.34', family: 4 },
        { address, family },
      ]);
    expect(await sendOnce(sender(resolve), 'https://receiver.example/')).toEqual(refused);
  });

  it('a name that meant a public address a moment ago gains nothing', async () => {
    const means = ['93.184.216.34', '127.0.0.1', '::1'];
    let asked = 0;
    const rebinding: Resolve = (_name, _options, done) => {
      const address = means[Math.min(asked++, means.length - 1)] ?? '';
      done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
    rebinding('receiver.example', { all: true }, (_error, [first]) =>
      expect(isPublic(first?.address ?? '')).toBe(true),
    );
    for (let turn = 0; turn < 2; turn++) {
      expect(await sendOnce(sender(rebinding), 'https://receiver.example/')).toEqual(refused);
    }
  });

  it('are asked of the name servers, whatever one says of itself', async () => {
    const server = await startNameServer({ A: [10, 0, 0, 7], AAAA: null });
    const resolve = createResolve([`127.0.0.1:${server.port}`]);
    const found = await new Promise((done) => resolve('receiver.example', { all: true }, (...answer) => done(answer)));
    expect(found).toEqual([null, [{ address: '10.0.0.7', family: 4 }]]);
    expect(await sendOnce(sender(resolve), 'https://receiver.example/')).toEqual(refused);
    server.close();
    const silent = createResolve([`127.0.0.1:${server.port}`]);
    expect(await sendOnce(sender(silent), 'https://receiver.example/')).toMatchObject({ kind: 'failed', status: null });
  });

  it.each([
    ['http://receiver.example/', /https/],
    ['ftp://receiver.example/', /https/],
    ['https://user:secret@receiver.example/', /user or a password/],
    ['https://localhost/', /this machine/],
    ['https://a.localhost./', /this machine/],
    ['https://', /cannot be read/],
  ])('%s is refused when registered', (url, why) => {
    expect(() => checkReceiverUrl(url, false)).toThrow(why);
  });

  it('http is for this machine alone, and only where it is allowed', async () => {
    expect(() => checkReceiverUrl(receiver.url, false)).toThrow(/https/);
    expect(checkReceiverUrl(receiver.url, true).href).toBe(receiver.url);
    const local = receiverPolicy(true);
    expect(['http:', 'https:'].map((protocol) => local('93.184.216.34', protocol))).toEqual([false, true]);
    expect(['10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1'].map((address) => local(address, 'http:'))).toEqual([
      false,
      false,
      false,
    ]);
    const before = receiver.received.length;
    expect(await sendOnce(sender(), receiver.url)).toEqual(refused);
    expect(receiver.received.length).toBe(before);
  });
});
