/** Streams with filters of thousands of names, resumes from the first record that match nothing, and clients that do not read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, WebSocket } from 'undici';
import { encodePlaces, feedKey } from '../../../api/push/cursor.ts';
import { type Attack, type AttackTarget, between, get, oneOf, open, repeat, send } from '../target.ts';

const MEMBERS = ['currency', 'basket', 'identity', 'address'];
const names = (random: () => number, count: number) =>
  Array.from({ length: count }, () =>
    random()
      .toString(36)
      .slice(2, between(random, 3, 9)),
  );

/** Opens a WebSocket, sends `messages`, and keeps it open for a while. */
async function converse(target: AttackTarget, messages: readonly string[], keepMs: number): Promise<void> {
  const localAddress = oneOf(target.random, target.networks);
  const dispatcher = new Agent({ localAddress });
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}/api/ws`, { dispatcher });
  const opened = new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true));
    socket.addEventListener('close', () => resolve(false));
    socket.addEventListener('error', () => resolve(false));
  });
  if (await opened) {
    for (const message of messages) if (socket.readyState === WebSocket.OPEN) socket.send(message);
    const ended = new Promise<string>((resolve) =>
      socket.addEventListener('close', ({ code }) => resolve(`closed ${code}`)),
    );
    target.tally(await Promise.race([ended, sleep(keepMs, 'open')]));
  } else target.tally('refused');
  socket.close();
  await dispatcher.destroy();
}

export const filters: Attack = {
  name: 'push filters',
  run: (target) =>
    repeat(target, 4, 20, async () => {
      const { random, networks } = target;
      if (random() < 0.4) {
        const lists = MEMBERS.map((member) => `${member}=${names(random, between(random, 50, 300)).join(',')}`);
        await send(target, oneOf(random, networks), [get(`/api/stream?channels=conversions&${lists.join('&')}`)]);
        return;
      }
      const subscribe = (id: number) => {
        const filter = Object.fromEntries(MEMBERS.map((member) => [member, names(random, between(random, 100, 500))]));
        const message = JSON.stringify({ op: 'subscribe', id, channels: ['conversions', 'identities'], filter });
        return message.length < 16_000 ? message : `${message.slice(0, 15_999)}}`;
      };
      await converse(
        target,
        Array.from({ length: 50 }, (_, id) => subscribe(id)),
        500,
      );
    }),
};

const START = { position: 0, index: 0 };
/** A valid cursor before the first record. */
const cursorOfZeros = (chain: string) =>
  encodePlaces(
    new Map([
      [feedKey('facts', chain), START],
      [feedKey('stamps', chain), START],
    ]),
  );

export const resumes: Attack = {
  name: 'resumes that match nothing',
  run: (target) =>
    repeat(target, 12, 20, async () => {
      const { random, networks, chain } = target;
      const cursor = cursorOfZeros(chain);
      const address = oneOf(random, ['RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR', 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2']);
      const path = `/api/stream?channels=addresses&address=${address}&cursor=${cursor}`;
      if (random() < 0.5) {
        const { socket, closed } = open(target, oneOf(random, networks));
        let head = '';
        socket.on('data', (bytes) => {
          head ||= bytes.toString('latin1', 9, 12);
        });
        socket.write(get(path));
        await Promise.race([closed, sleep(1_000)]);
        target.tally(head || 'closed');
        socket.destroy();
      } else {
        const filter = { address: [address] };
        await converse(
          target,
          [JSON.stringify({ op: 'subscribe', id: 1, channels: ['addresses'], filter, cursor })],
          1_000,
        );
      }
    }),
};

export const stalledReaders: Attack = {
  name: 'readers that do not read',
  run: (target) =>
    repeat(target, 12, 100, async () => {
      const { random, networks, chain } = target;
      const { socket, closed } = open(target, oneOf(random, networks));
      socket.pause();
      const path = oneOf(random, [
        `/api/stream?channels=blocks,txs,conversions,reserves,identities&cursor=${cursorOfZeros(chain)}`,
        '/api/conversions/?format=ndjson',
        '/api/blocks/?pageSize=100',
      ]);
      socket.write(get(path).repeat(between(random, 1, 20)));
      await Promise.race([closed, sleep(between(random, 200, 8_000))]);
      target.tally(socket.destroyed ? 'closed' : 'left');
      socket.destroy();
    }),
};

/** Requests the whole mempool again and again: each subscription to the mempool begins with a snapshot. */
export const crowdedMempool: Attack = {
  name: 'a crowded mempool',
  run: (target) =>
    repeat(target, 8, 20, async () => {
      const { random, networks, chain } = target;
      if (random() < 0.7) {
        const path = oneOf(random, ['/api/mempool/', '/api/mempool/conversions']);
        const page = between(random, 1, 300);
        await send(target, oneOf(random, networks), [get(`${path}?chain=${chain}&page=${page}&pageSize=200`)]);
        return;
      }
      const subscribe = (id: number) => JSON.stringify({ op: 'subscribe', id, channels: ['mempool'] });
      await converse(
        target,
        Array.from({ length: between(random, 1, 20) }, (_, id) => subscribe(id)),
        500,
      );
    }),
};
