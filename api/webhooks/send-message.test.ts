/** One attempt at receivers that behave badly, and the refusal of every address that is not public. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNameServer } from '../../test/support/api/webhooks/name-server.ts';
import {
  answers,
  type Behaviour,
  drips,
  endless,
  hangs,
  type Receiver,
  startReceiver,
  verified,
} from '../../test/support/api/webhooks/receiver.ts';
import {
  AddressForbidden,
  checkedLookup,
  checkReceiverUrl,
  isPublic,
  type Resolve,
  receiverPolicy,
} from './receiver-address.ts';
import { isReceiverPort } from './receiver-ports.ts';
import { createResolve, resolveBySystem } from './resolve-name.ts';
import { newSecret } from './secrets.ts';
import { createSender, type DeliveryOutcome, type Sender } from './send-message.ts';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;
const secret = newSecret();
const message = (url: string, secrets = [secret]) => ({ id: 'msg_1', url, body: '{"type":"test"}', secrets });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

async function sendOnce(sender: Sender, url: string, secrets?: string[]): Promise<DeliveryOutcome> {
  try {
    return (await sender.send(message(url, secrets), never)).outcome;
  } finally {
    await sender.close();
  }
}

/** A service on this machine that is not a receiver. */
async function listenFor(onConnection: (socket: Socket) => void) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    close: () => server.close(),
  };
}

const noAnswer = {
  kind: 'failed',
  status: null,
  error: expect.stringMatching(/^no answer: /),
  retryAfterMs: null,
};

describe('an attempt', () => {
  const sender = (timeoutMs = 10_000) =>
    createSender({ allowLocal: true, logger, userAgent: 'test', timeoutMs, resolve: resolveBySystem });

  it('is signed by each secret, which the official library verifies', async () => {
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
    ['breaks off', (response) => void response.destroy(), noAnswer],
    ['answers 10 GB', endless, { kind: 'delivered', status: 200 }],
    ['drips for ever', drips, { kind: 'delivered', status: 200 }],
    ['sends 1 MB of headers', answers(200, { x: 'y'.repeat(1_000_000) }), noAnswer],
  ])('at a receiver that %s', async (_, behaviour, outcome) => {
    receiver.behave(behaviour);
    const before = process.memoryUsage().arrayBuffers;
    expect(await sendOnce(sender(), receiver.url)).toEqual(outcome);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('at a receiver that hangs', async () => {
    receiver.behave(hangs);
    expect(await sendOnce(sender(1_000), receiver.url)).toEqual(noAnswer);
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

describe('the cause of a missing answer', () => {
  const means =
    (address: string | null): Resolve =>
    (_name, _options, done) =>
      address === null ? done(new Error('ENOTFOUND'), []) : done(null, [{ address, family: 4 }]);

  it('has the same text whether a port is closed, silent or open, and whether a name is unknown or internal', async () => {
    const silent = await listenFor(() => undefined);
    const shell = await listenFor((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    const web = await listenFor((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const garbage = await listenFor((socket) => socket.end('not HTTP'));
    const closed = await listenFor(() => undefined);
    closed.close();
    const outcomeOf = new Map<string, DeliveryOutcome>();
    const tryOut = async (what: string, url: string, resolve = resolveBySystem, allowLocal = true) =>
      outcomeOf.set(
        what,
        await sendOnce(createSender({ allowLocal, logger, userAgent: 'test', timeoutMs: 1_000, resolve }), url),
      );
    await tryOut('closed', `https://127.0.0.1:${closed.port}/`);
    await tryOut('silent', `https://127.0.0.1:${silent.port}/`);
    await tryOut('shell', `https://127.0.0.1:${shell.port}/`);
    await tryOut('web without TLS', `https://127.0.0.1:${web.port}/`);
    await tryOut('certificate of another', receiver.url.replace('http:', 'https:'));
    await tryOut('no HTTP', `http://127.0.0.1:${garbage.port}/`);
    await tryOut('unknown name', 'https://receiver.example/', means(null), false);
    await tryOut('name that the system does not know', 'https://receiver.invalid/');
    await tryOut('name of the inside', 'https://receiver.example/', means('10.0.0.7'), false);
    for (const one of [silent, shell, web, garbage]) one.close();
    const outcomes = new Set([...outcomeOf.values()].map((outcome) => JSON.stringify(outcome)));
    expect([...outcomes].map((outcome) => JSON.parse(outcome))).toEqual([noAnswer]);
    expect([silent, shell, web, garbage].every(({ connections }) => connections > 0)).toBe(true);
  });
});

describe('ports', () => {
  const services = [
    0, 1, 22, 25, 53, 80, 110, 1023, 1433, 2049, 3306, 5060, 5432, 6379, 6667, 9092, 9200, 11211, 27017,
  ];
  const port = fc.oneof(
    fc.integer({ min: 0, max: 65_535 }),
    fc.constantFrom(...services, 443, 1024, 3000, 8443, 65_535),
  );

  it('are 443, and from 1024 up those of no well-known service, both when registered and when sent to', async () => {
    const sender = createSender({
      allowLocal: false,
      logger,
      userAgent: 'test',
      resolve: (_name, _options, done) => done(null, []),
    });
    await fc.assert(
      fc.asyncProperty(port, async (number) => {
        const url = `https://receiver.example:${number}/`;
        const allowed =
          number === 443 || (number >= 1024 && !services.includes(number) && isReceiverPort(new URL(url)));
        if (allowed) checkReceiverUrl(url, false);
        else expect(() => checkReceiverUrl(url, false)).toThrow(/port of this URL; allowed are 443/);
        const { outcome: sent } = await sender.send(message(url), never);
        expect(sent).toMatchObject({
          kind: 'failed',
          error: expect.stringMatching(allowed ? /^no answer/ : /port of this URL/),
        });
      }),
    );
    await sender.close();
    for (const usual of [443, 1024, 3000, 4443, 5000, 8000, 8080, 8443, 9443, 49_152, 65_535]) {
      expect(isReceiverPort(new URL(`https://receiver.example:${usual}/`)), String(usual)).toBe(true);
    }
  });

  it.each([
    'https://receiver.example:022/',
    'https://receiver.example:２２/',
    'https://receiver.example:\t22/',
    'http://127.0.0.1/',
  ])('are checked in any spelling: %s', (url) =>
    expect(() => checkReceiverUrl(url, true)).toThrow(/port of this URL|cannot be read/),
  );
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

  const sender = (resolve = resolveBySystem) => createSender({ allowLocal: false, logger, userAgent: 'test', resolve });
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
  ])('the form %s is refused, too', async (url) => {
    expect(() => checkReceiverUrl(url, false)).toThrow(/not public/);
    expect(await sendOnce(sender(), url)).toEqual(refused);
  });

  it.each(ADDRESSES)('%s: a name that resolves to %s is refused, whatever else it resolves to', (_, address) => {
    const family = address.includes(':') ? 6 : 4;
    const resolve: Resolve = (_name, _options, done) =>
      done(null, [
        { address: '93.184.216.34', family: 4 },
        { address, family },
      ]);
    const allows = receiverPolicy(false);
    checkedLookup((one) => allows(one, 'https:'), resolve)('receiver.example', { all: true }, (error, found) => {
      expect([error, found]).toEqual([expect.any(AddressForbidden), []]);
    });
    expect.assertions(1);
  });

  it('a name that resolved to a public address a moment ago is checked again', async () => {
    const listener = await listenFor(() => undefined);
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
      expect(await sendOnce(sender(rebinding), `https://receiver.example:${listener.port}/`)).toEqual(noAnswer);
    }
    expect([asked, listener.connections]).toEqual([3, 0]);
    listener.close();
  });

  it('come from the name servers, whatever these answer', async () => {
    const server = await startNameServer({ A: [10, 0, 0, 7], AAAA: null });
    const resolve = createResolve([`127.0.0.1:${server.port}`]);
    const found = await new Promise((done) => resolve('receiver.example', { all: true }, (...answer) => done(answer)));
    expect(found).toEqual([null, [{ address: '10.0.0.7', family: 4 }]]);
    expect(await sendOnce(sender(resolve), 'https://receiver.example/')).toEqual(noAnswer);
    server.close();
    const silent = createResolve([`127.0.0.1:${server.port}`]);
    expect(await sendOnce(sender(silent), 'https://receiver.example/')).toEqual(noAnswer);
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

  it('http is allowed to this machine only, and only if local receivers are allowed', async () => {
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
    expect(await sendOnce(sender(), receiver.url)).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/https/),
    });
    expect(receiver.received.length).toBe(before);
  });
});
