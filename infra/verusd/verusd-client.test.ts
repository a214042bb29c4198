import { Writable } from 'node:stream';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RetryableError } from '../../schemas/errors.ts';
import {
  blockText,
  type DaemonFault,
  type ScriptedDaemon,
  startScriptedDaemon,
} from '../../test/support/infra/verusd/scripted-daemon.ts';
import { metrics } from '../metrics.ts';
import {
  DaemonAuthFailed,
  DaemonGarbage,
  DaemonHttpError,
  DaemonRpcError,
  DaemonTimeout,
  DaemonUnreachable,
  DaemonWarmingUp,
} from './daemon-errors.ts';
import { createVerusdClient, type VerusdClient } from './verusd-client.ts';

const PASSWORD = 'hunter2-very-secret';
const TIMEOUT_MS = 30_000;
let logged = '';
const logger = pino(
  { level: 'trace' },
  new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  }),
);

let daemon: ScriptedDaemon;
let client: VerusdClient;

function connect(rpc: string): VerusdClient {
  return createVerusdClient({ rpc, chain: 'vrsc', logger, timeoutMs: TIMEOUT_MS });
}

beforeEach(async () => {
  logged = '';
  daemon = await startScriptedDaemon();
  daemon.password = PASSWORD;
  daemon.tree.extend(3);
  client = connect(daemon.rpc);
});

afterEach(async () => {
  await client.close();
  await daemon.stop();
});

describe('results', () => {
  it('call keeps the text of numbers', async () => {
    const block = (await client.call('getblock', ['1', 2])) as { height: number; tx: { vout: { value: unknown }[] }[] };
    expect(block.height).toBe(1);
    expect(block.tx[0]?.vout[0]?.value).toEqual(new LosslessNumber('0.00000010'));
  });

  it('callText and callRaw return the bytes that the daemon sent', async () => {
    const first = daemon.tree.at(1) ?? daemon.tree.genesis;
    expect(await client.callText('getblock', ['1', 2])).toBe(blockText(daemon.tree, first));
    const raw = await client.callRaw('getblock', [first.hash, 2]);
    expect(Buffer.from(raw.bytes).toString('utf8')).toBe(blockText(daemon.tree, first));
    expect(raw.value).toMatchObject({ hash: first.hash });
  });

  it('returns a block of tens of megabytes whole', async () => {
    const big = daemon.tree.extend(1, 'x\\n'.repeat(10_000_000));
    expect(await client.callText('getblock', [String(big.height), 2])).toBe(blockText(daemon.tree, big));
  });

  it('reads reordered envelopes with blanks, as proxies print them', async () => {
    const body = ' { "jsonrpc": "2.0", "id": 1, "result": {"a": 1.10, "error": "Ä€𝄞\\""} }';
    daemon.fault = () => ({ kind: 'http', status: 200, body });
    expect(await client.callText('getinfo', [])).toBe('{"a": 1.10, "error": "Ä€𝄞\\""}');
  });

  it('forward passes body and status through', async () => {
    const body = '{"id":"mine","method":"nosuch","params":[]}';
    const reply = await client.forward(body, { label: 'proxied' });
    expect(reply.status).toBe(404);
    expect(reply.body.toString()).toBe(
      '{"result":null,"error":{"code":-32601,"message":"Method nosuch not found"},"id":"mine"}\n',
    );
  });
});

describe('a batch', () => {
  const blocks = (heights: readonly number[]) =>
    client.callRawBatch(
      'getblock',
      heights.map((height) => [String(height), 2]),
      ['hash', 'tx'],
    );
  const textsOf = async (heights: readonly number[]) =>
    (await blocks(heights)).map((raw) => raw && Buffer.from(raw.bytes).toString('utf8'));
  const sent = (height: number) => blockText(daemon.tree, daemon.tree.at(height) ?? daemon.tree.genesis);

  it('returns each result as the daemon sent it, and null for a refused call', async () => {
    expect(await textsOf([0, 3, 99, 2])).toEqual([sent(0), sent(3), null, sent(2)]);
  });

  it('is not misled by a block that contains the end of a reply', async () => {
    daemon.tree.extend(1, ',\\"error\\":null,\\"id\\":1}');
    daemon.tree.extend(1, '","error":null,"id":2,"a":{"error":null,"id":3},"b":"');
    expect(await textsOf([3, 4, 5, 0])).toEqual([sent(3), sent(4), sent(5), sent(0)]);
  });

  it.each<[string, DaemonFault]>([
    ['is cut off', { kind: 'cut' }],
    ['is garbled', { kind: 'garbage' }],
    ['is one reply', { kind: 'http', status: 200, body: '{"result":null,"error":null,"id":1}' }],
    ['is refused by a proxy', { kind: 'http', status: 400, body: 'Bad Request' }],
  ])('whose reply %s is retryable as a whole', async (_, fault) => {
    daemon.fault = () => fault;
    await expect(blocks([1, 2])).rejects.toBeInstanceOf(RetryableError);
  });

  it('fails for a reply that is too long for a batch', async () => {
    daemon.tree.extend(1, 'x'.repeat(17 << 20));
    await expect(blocks([1, 4])).rejects.toThrow(/more than 16777216/);
    expect(await textsOf([1])).toEqual([sent(1)]);
  });
});

describe('failures', () => {
  const cases: [string, DaemonFault, new (...args: never[]) => Error, string][] = [
    ['a connection that is closed', { kind: 'close' }, DaemonUnreachable, 'daemon_unreachable'],
    ['a body that is cut off', { kind: 'cut' }, DaemonGarbage, 'daemon_garbage'],
    ['a garbled body', { kind: 'garbage' }, DaemonGarbage, 'daemon_garbage'],
    [
      'a full queue',
      { kind: 'http', status: 500, body: 'Work queue depth exceeded' },
      DaemonHttpError,
      'daemon_http_error',
    ],
    ['a web page', { kind: 'http', status: 200, body: '<html>' }, DaemonGarbage, 'daemon_garbage'],
    ['an empty body', { kind: 'http', status: 200, body: '' }, DaemonGarbage, 'daemon_garbage'],
    ['JSON that is not a reply', { kind: 'http', status: 200, body: '[]' }, DaemonGarbage, 'daemon_garbage'],
    ['neither result nor error', { kind: 'http', status: 200, body: '{"id":1}' }, DaemonGarbage, 'daemon_garbage'],
    [
      'the reply to another call',
      { kind: 'http', status: 200, body: '{"result":1,"error":null,"id":77}' },
      DaemonGarbage,
      'daemon_garbage',
    ],
    [
      'a result that is not JSON inside a valid envelope',
      { kind: 'http', status: 200, body: '{"result":{"a":,"error":null,"id":1}' },
      DaemonGarbage,
      'daemon_garbage',
    ],
    ['warm-up', { kind: 'error', code: -28, message: 'Loading block index...' }, DaemonWarmingUp, 'daemon_warming_up'],
  ];

  it.each(cases)('%s is retryable and typed', async (_, fault, type, code) => {
    daemon.fault = () => fault;
    for (const call of [client.call, client.callText, client.callRaw]) {
      daemon.fault = () => fault;
      const error = await call('getbestblockhash', []).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(type);
      expect(error).toBeInstanceOf(RetryableError);
      expect(error).toMatchObject({ code });
    }
  });

  it('a refusal carries the code and message of the daemon', async () => {
    const error = await client.call('getblockhash', [99]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DaemonRpcError);
    expect(error).toMatchObject({ code: 'daemon_rpc_error', rpcCode: -8, rpcMessage: 'Block height out of range' });
  });

  it.each([
    '{"code":429}',
    '{"code":429,"message":null}',
    `{"code":429,"message":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ])('a refusal without a message is still a refusal: %.30s', async (error) => {
    daemon.fault = () => ({ kind: 'http', status: 500, body: `{"result":null,"error":${error},"id":null}` });
    const caught = await client.call('getblockhash', [1]).catch((thrown: unknown) => thrown);
    expect(caught).toMatchObject({ code: 'daemon_rpc_error', rpcCode: 429, rpcMessage: 'an error without a text' });
  });

  it('times out within the limit of the call', async () => {
    daemon.fault = () => ({ kind: 'delay', ms: 600_000 });
    const started = performance.now();
    await expect(client.call('getbestblockhash', [], { timeoutMs: 50 })).rejects.toBeInstanceOf(DaemonTimeout);
    expect(performance.now() - started).toBeLessThan(TIMEOUT_MS);
  });

  it('stops with the reason of an abort, before and during a call', async () => {
    const controller = new AbortController();
    daemon.fault = () => ({ kind: 'delay', ms: 2000 });
    const pending = client.call('getbestblockhash', [], { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('shutting down')), 30);
    await expect(pending).rejects.toThrow('shutting down');
    await expect(client.call('getbestblockhash', [], { signal: controller.signal })).rejects.toThrow('shutting down');
  });

  it('is unreachable while the daemon is down and works again when it is back', async () => {
    await client.call('getbestblockhash', []);
    await daemon.down();
    await expect(client.call('getbestblockhash', [])).rejects.toBeInstanceOf(DaemonUnreachable);
    await daemon.up();
    expect(await client.call('getbestblockhash', [])).toBe(daemon.tree.tip().hash);
  });
});

describe('secrets and metrics', () => {
  it('never shows the password, neither in errors nor in log lines', async () => {
    const wrong = connect(daemon.rpc.replace(PASSWORD, `${PASSWORD}-wrong`));
    const refused = await wrong.call('getinfo', []).catch((caught: unknown) => caught);
    expect(refused).toBeInstanceOf(DaemonAuthFailed);
    expect(refused).toMatchObject({ message: expect.stringContaining('rpcpassword') });
    await wrong.close();
    await daemon.down();
    const down = await client.call('getinfo', []).catch((caught: unknown) => caught);
    logger.error({ err: refused });
    logger.error({ err: down });
    expect(logged).toContain('daemon_unreachable');
    const encoded = Buffer.from(`user:${PASSWORD}`).toString('base64');
    for (const secret of [PASSWORD, encoded]) expect(logged).not.toContain(secret);
  });

  it('observes each call by method and outcome', async () => {
    metrics.upstreamSeconds.reset();
    await client.call('getblockcount', []);
    await client.call('getblockhash', [99]).catch(() => undefined);
    const { values } = await metrics.upstreamSeconds.get();
    const counts = values
      .filter((value) => value.metricName?.endsWith('_count'))
      .map(({ labels, value }) => ({ ...labels, value }));
    expect(counts).toEqual([
      { chain: 'vrsc', method: 'getblockcount', outcome: 'ok', value: 1 },
      { chain: 'vrsc', method: 'getblockhash', outcome: 'daemon_rpc_error', value: 1 },
    ]);
  });
});

it('runs no more calls at the same time than it has connections', async () => {
  let running = 0;
  let most = 0;
  daemon.fault = () => {
    running += 1;
    most = Math.max(most, running);
    setTimeout(() => {
      running -= 1;
    }, 20);
    return { kind: 'delay', ms: 20 };
  };
  const narrow = createVerusdClient({ rpc: daemon.rpc, chain: 'vrsc', logger, connections: 3 });
  await Promise.all(Array.from({ length: 12 }, () => narrow.call('getblockcount', [])));
  expect(most).toBe(3);
  await narrow.close();
});
