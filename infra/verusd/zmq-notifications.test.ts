/** Over real sockets: what is received from a publisher, and when it counts as silent. */
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { openZmqPublisher, type ZmqPublisher } from '../../recordings/player/zmq-publisher.ts';
import type { DaemonNotification } from '../../schemas/verusd/zmq-message.ts';
import { reservePort } from '../../test/support/infra/reserved-port.ts';
import { registry } from '../metrics.ts';
import type { DaemonNotifications } from './daemon-notifications.ts';
import { openZmqNotifications } from './zmq-notifications.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const logger = pino({ level: 'silent' });
const hashOf = (number: number) => number.toString(16).padStart(64, '0');
const ANY = 'tcp://127.0.0.1:*';

async function publisherAt(address = ANY): Promise<ZmqPublisher> {
  const publisher = await openZmqPublisher(address);
  closers.push(() => publisher.close());
  return publisher;
}

interface Heard {
  readonly notifications: DaemonNotifications;
  readonly heard: DaemonNotification[];
}

async function listen(addresses: readonly (string | null)[], chain: string, blockSeconds = 60): Promise<Heard> {
  const notifications = await openZmqNotifications({ chain, addresses, blockSeconds, logger });
  closers.push(() => notifications.close());
  const heard: DaemonNotification[] = [];
  notifications.subscribe((notification) => heard.push(notification));
  return { notifications, heard };
}

const stateOf = ({ notifications }: Heard, index = 0) => notifications.publishers()[index]?.state;

/** Repeats, because messages published before the subscription has arrived are lost. */
async function publishUntilHeard(publisher: ZmqPublisher, listener: Heard, hash: string): Promise<void> {
  await expect
    .poll(() => {
      publisher.publish('hashblock', hash);
      return stateOf(listener);
    })
    .toBe('heard');
}

it('receives hashes of blocks and transactions in printed byte order', async () => {
  const publisher = await publisherAt();
  const listener = await listen([publisher.address], 'heard');
  await publishUntilHeard(publisher, listener, hashOf(1));
  publisher.publish('hashtx', hashOf(2));
  publisher.publish('hashblock', hashOf(3));
  await expect.poll(() => listener.heard.at(-1)).toEqual({ kind: 'block', hash: hashOf(3) });
  expect(listener.heard[0]).toEqual({ kind: 'missed' });
  expect(listener.heard.at(-2)).toEqual({ kind: 'tx', txid: hashOf(2) });
  expect(listener.notifications.publishers()).toEqual([{ state: 'heard', heardAt: expect.any(String) }]);
  expect(await registry.metrics()).toContain('verustream_daemon_publisher_heard{chain="heard",daemon="1"} 1');
});

it('is unreachable while nothing listens at the address, and heard once a publisher does', async () => {
  const { port, release } = await reservePort();
  closers.push(release);
  const address = `tcp://127.0.0.1:${port}`;
  const listener = await listen([address], 'late');
  await expect.poll(() => stateOf(listener)).toBe('unreachable');
  await publishUntilHeard(await publisherAt(address), listener, hashOf(1));
});

it('is silent when it has announced nothing for two block times', async () => {
  const publisher = await publisherAt();
  const listener = await listen([publisher.address, null], 'mute', 0.1);
  await expect.poll(() => stateOf(listener)).toBe('silent');
  expect(listener.notifications.publishers()[1]).toBeNull();
  expect(await registry.metrics()).toContain('verustream_daemon_publisher_heard{chain="mute",daemon="1"} 0');
});

it('is silent when it does not announce a block that was found otherwise, and only then', async () => {
  const publisher = await publisherAt();
  const listener = await listen([publisher.address], 'forgetful', 0.2);
  await publishUntilHeard(publisher, listener, hashOf(1));
  listener.notifications.saw(hashOf(1));
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(stateOf(listener)).toBe('heard');
  listener.notifications.saw(hashOf(2));
  await expect.poll(() => stateOf(listener)).toBe('silent');
  await publishUntilHeard(publisher, listener, hashOf(3));
});

it('reports missed messages when their numbers jump', async () => {
  const { Publisher } = await import('zeromq');
  const socket = new Publisher({ linger: 0 });
  await socket.bind(ANY);
  closers.push(() => socket.close());
  const listener = await listen([socket.lastEndpoint ?? ''], 'gaps');
  const send = (byte: number, number: number) =>
    socket.send(['hashtx', Buffer.alloc(32, byte), Buffer.from([number, 0, 0, 0])]);
  const last = () => listener.heard.at(-1);
  const tx = (byte: number) => ({ kind: 'tx', txid: Buffer.alloc(32, byte).toString('hex') });
  await expect
    .poll(async () => {
      await send(1, 7);
      return last();
    })
    .toEqual(tx(1));
  await send(2, 8);
  await expect.poll(last).toEqual(tx(2));
  listener.heard.length = 0;
  await send(3, 9);
  await send(4, 11);
  await expect.poll(() => listener.heard).toEqual([tx(3), { kind: 'missed' }, tx(4)]);
});

it('ignores messages that are not from a daemon, and disconnects a publisher that sends too much', async () => {
  const { Publisher } = await import('zeromq');
  const socket = new Publisher({ linger: 0 });
  await socket.bind(ANY);
  closers.push(() => socket.close());
  const listener = await listen([socket.lastEndpoint ?? ''], 'garbage');
  const number = Buffer.alloc(4);
  for (const frames of [
    ['hashblock'],
    ['hashblock', Buffer.alloc(31), number],
    ['hashblock', Buffer.alloc(33), number],
    ['hashblock', Buffer.alloc(32), Buffer.alloc(3)],
    ['hashblocks', Buffer.alloc(32), number],
    ['sequence', Buffer.concat([Buffer.alloc(32), Buffer.from('X')]), number],
  ]) {
    await expect
      .poll(async () => {
        await socket.send(frames);
        return registry.getSingleMetricAsString('verustream_daemon_notifications_total');
      })
      .toContain('chain="garbage"');
  }
  await socket.send(['hashblock', Buffer.alloc(100_000), number]);
  await expect.poll(() => stateOf(listener)).toBe('unreachable');
  expect(listener.heard.every(({ kind }) => kind === 'missed')).toBe(true);
});
