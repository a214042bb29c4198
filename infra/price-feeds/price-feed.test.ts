import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createPriceFeed, type PriceFeed } from './price-feed.ts';

const never = new AbortController().signal;
let server: Server | null = null;
let feed: PriceFeed | null = null;

afterEach(async () => {
  await feed?.close();
  server?.closeAllConnections();
  server?.close();
});

/** A feed that answers each request with the next of `answers` and repeats the last. */
async function feedThat(...answers: readonly RequestListener[]): Promise<{ feed: PriceFeed; asked: string[] }> {
  // A busy machine answers slowly, so only feeds that never complete an answer get a short timeout.
  const timeoutMs = answers.some((answer) => answer === hangs || answer === trickles) ? 300 : 30_000;
  const asked: string[] = [];
  server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request.url ?? '');
    answer?.(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  feed = createPriceFeed(`http://127.0.0.1:${port}/simple/price?key=k`, { timeoutMs, retries: 1 });
  return { feed, asked };
}

const says =
  (body: string, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
const hangs: RequestListener = () => undefined;
const cut: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"dai":');
  response.destroy();
};
const trickles: RequestListener = (_, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

describe('a price feed', () => {
  it('returns the prices that it knows', async () => {
    const { feed, asked } = await feedThat(says('{"dai":{"usd":0.9998},"tiny":{"usd":2.3e-7},"gone":{}}'));
    const prices = await feed.prices(['dai', 'tiny', 'gone', 'constructor'], never);
    expect([...prices]).toEqual([
      ['dai', 0.9998],
      ['tiny', 2.3e-7],
    ]);
    expect(asked).toEqual(['/simple/price?key=k&ids=dai%2Ctiny%2Cgone%2Cconstructor&vs_currencies=usd']);
  });

  it.each<[string, RequestListener[], RegExp]>([
    ['refuses', [says('no', 403)], /status 403/],
    ['answers with something other than JSON', [says('<html>')], /JSON/],
    ['answers null', [says('null')], /is not an object/],
    ['reports a price of zero', [says('{"dai":{"usd":0}}')], /the price of dai is 0/],
    ['reports a price above the bounds', [says('{"dai":{"usd":1e21}}')], /the price of dai is 1e\+21/],
    ['reports a price below the bounds', [says('{"dai":{"usd":4e-21}}')], /the price of dai is 4e-21/],
    ['reports a price as text', [says('{"dai":{"usd":"1"}}')], /the price of dai is "1"/],
    ['answers too much', [says(`{"dai":{"usd":1},"x":"${'x'.repeat(2 << 20)}"}`)], /size/i],
    ['hangs', [hangs], /time|abort/i],
    ['is cut off', [cut], /./],
    ['trickles', [trickles], /time|abort/i],
  ])('that %s fails with the reason', async (_, answers, reason) => {
    const { feed } = await feedThat(...answers);
    const failed = feed.prices(['dai'], never);
    await expect(failed).rejects.toMatchObject({ code: 'price_feed_failed' });
    await expect(failed).rejects.toThrow(reason);
  });

  it('is asked again after a temporary failure', async () => {
    const { feed, asked } = await feedThat(says('', 503), says('{"dai":{"usd":1}}'));
    expect((await feed.prices(['dai'], never)).get('dai')).toBe(1);
    expect(asked).toHaveLength(2);
  });

  it('is abandoned when the signal aborts', async () => {
    const { feed } = await feedThat(hangs);
    await expect(feed.prices(['dai'], AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
