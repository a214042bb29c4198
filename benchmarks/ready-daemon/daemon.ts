/**
 * A daemon in its own process: one generated chain per name, served from prepared bytes by uWebSockets.js and published over ZMQ. It spends
 * `spendMicros` on the CPU for each block, as a daemon that prints JSON does.
 */
import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import { openZmqPublisher } from '../../recordings/player/zmq-publisher.ts';
import { createChain } from '../../test/generator/chain.ts';
import { EVERYTHING, PAYMENTS } from '../../test/generator/mixes.ts';
import { monotonicMs } from '../monotonic.ts';
import type { DaemonOrder, Played, ReadyChain, ReadyDaemonOptions } from './ready-daemon.ts';

interface Block {
  readonly height: number;
  readonly hash: string;
  readonly bytes: Buffer;
}

const HEAD = Buffer.from('{"result":');
const CHAIN_ID = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const { names, blocks, shown, transactions, mix, spendMicros }: ReadyDaemonOptions = JSON.parse(
  process.argv[2] ?? '{}',
);
const calls: Record<string, number> = {};

function spend(): void {
  const end = performance.now() + spendMicros / 1000;
  while (performance.now() < end);
}

async function serve(name: string, seed: number) {
  const maker = createChain({ seed, addresses: 100, transactions, mix: mix === 'everything' ? EVERYTHING : PAYMENTS });
  const chain: Block[] = [];
  const heights = new Map<string, number>();
  for (let made = 0; made < blocks; made += 1) {
    const { height, hash, text } = maker.next();
    chain.push({ height, hash, bytes: Buffer.from(text) });
    heights.set(hash, height);
  }
  let height = shown;
  const at = (index: number): Block => chain[index] ?? (chain[0] as Block);
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));

  function result(method: string, [first]: readonly unknown[]): Buffer | null {
    calls[method] = (calls[method] ?? 0) + 1;
    const { hash } = at(height);
    switch (method) {
      case 'getbestblockhash':
        return text(hash);
      case 'getblockcount':
        return text(height);
      case 'getblockhash':
        return Number(first) <= height ? text(at(Number(first)).hash) : null;
      case 'getblockchaininfo':
        return text({ name: 'VRSCTEST', chainid: CHAIN_ID, blocks: height, bestblockhash: hash });
      case 'getinfo':
        return text({ name: 'VRSCTEST', chainid: CHAIN_ID, blocks: height, longestchain: height, connections: 8 });
      case 'getblock': {
        spend();
        const index = heights.get(String(first)) ?? Number(first);
        return index <= height ? at(index).bytes : null;
      }
      default:
        return null;
    }
  }

  function answer({ id, method, params }: { id: unknown; method: string; params: readonly unknown[] }): Buffer {
    const ready = result(method, params);
    if (!ready) return text({ result: null, error: { code: -8, message: `nothing for ${method} ${params}` }, id });
    return Buffer.concat([HEAD, ready, Buffer.from(`,"error":null,"id":${JSON.stringify(id)}}`)]);
  }

  function reply(response: HttpResponse, body: Buffer): void {
    const asked = JSON.parse(body.toString());
    const answers = Array.isArray(asked) ? asked.map(answer) : null;
    const sent = answers
      ? Buffer.concat([
          Buffer.from('['),
          ...answers.flatMap((one, index) => (index > 0 ? [Buffer.from(','), one] : [one])),
          Buffer.from(']\n'),
        ])
      : Buffer.concat([answer(asked), Buffer.from('\n')]);
    response.cork(() => void response.writeHeader('content-type', 'application/json').end(sent));
  }

  const port = await new Promise<number>((listening) => {
    App()
      .post('/', (response) => {
        const chunks: Buffer[] = [];
        response.onAborted(() => undefined);
        response.onData((chunk, isLast) => {
          chunks.push(Buffer.from(chunk.slice(0)));
          if (isLast) reply(response, Buffer.concat(chunks));
        });
      })
      .listen('127.0.0.1', 0, (socket) => {
        if (socket) listening(us_socket_local_port(socket));
      });
  });
  const publisher = await openZmqPublisher('tcp://127.0.0.1:*');
  const ready: ReadyChain = { name, rpc: `http://user:password@127.0.0.1:${port}`, zmq: publisher.address };
  return {
    ready,
    show(to: number): Played {
      height = Math.min(to, chain.length - 1);
      const { hash } = at(height);
      const published = monotonicMs();
      publisher.publish('hashblock', hash);
      return { chain: name, height, hash, at: published };
    },
    height: () => height,
  };
}

const served = await Promise.all(names.map((name, index) => serve(name, 20261121 + index)));

/** Shows one block of each chain in rotation. */
function play({ count, blocksASecond, isPoisson }: Extract<DaemonOrder, { do: 'play' }>): void {
  const played: Played[] = [];
  const random = Math.random;
  const next = (): void => {
    const chain = served[played.length % served.length];
    if (chain) played.push(chain.show(chain.height() + 1));
    if (played.length === count) return void process.send?.({ played });
    setTimeout(next, (isPoisson ? -Math.log(1 - random()) : 1) * (1000 / blocksASecond));
  };
  setTimeout(next, 1000 / blocksASecond);
}

process.on('message', (order: DaemonOrder) => {
  if (order.do === 'play') play(order);
  else process.send?.({ calls: { ...calls } });
});
process.on('disconnect', () => process.exit());
process.send?.(served.map(({ ready }) => ready));
