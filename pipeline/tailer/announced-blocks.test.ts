/** Announced blocks: the tailer fetches each at once and only once, and asks the daemon for its tip when anything was missed. */
import { expect, it } from 'vitest';
import type { DaemonNotifications } from '../../infra/verusd/daemon-notifications.ts';
import type { DaemonNotification } from '../../schemas/verusd/zmq-message.ts';
import { followingAt, useTailWorld } from '../../test/support/pipeline/tailer/tail-world.ts';
import { announcedBlocks } from './announced-blocks.ts';

const world = useTailWorld();
/** By polling alone, the tailer would find nothing before the test times out. */
const NEVER_MS = 3_600_000;

interface Announcer extends DaemonNotifications {
  announce(notification: DaemonNotification): void;
  readonly seen: string[];
}

function createAnnouncer(): Announcer {
  const listeners = new Set<(notification: DaemonNotification, daemon: number) => void>();
  const seen: string[] = [];
  return {
    announce(notification) {
      for (const heard of listeners) heard(notification, 1);
    },
    seen,
    subscribe(heard) {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
    publishers: () => [{ state: 'heard', heardAt: null }],
    saw: (hash) => void seen.push(hash),
    close: async () => undefined,
  };
}

it('an announced block costs one call, and is in the log without a poll', async () => {
  const notifications = createAnnouncer();
  const tailer = world.start({ notifications, pollMs: NEVER_MS });
  await tailer.shows(followingAt(0));
  for (let height = 1; height <= 5; height += 1) {
    const before = world.daemon.calls.length;
    const { hash } = world.daemon.tree.extend(1);
    notifications.announce({ kind: 'block', hash });
    notifications.announce({ kind: 'sequence', change: 'block_connected', hash });
    await tailer.shows(followingAt(height));
    expect(world.daemon.calls.slice(before)).toEqual([{ method: 'getblock', params: [hash, 2] }]);
  }
  expect(notifications.seen).toEqual([]);
});

it('several blocks, a reorganisation and missed notifications are followed as with polling', async () => {
  const notifications = createAnnouncer();
  const tailer = world.start({ notifications, pollMs: NEVER_MS });
  await tailer.shows(followingAt(0));
  notifications.announce({ kind: 'block', hash: world.daemon.tree.extend(20).hash });
  await tailer.shows(followingAt(20));
  notifications.announce({ kind: 'block', hash: world.daemon.tree.reorganise(5, 4).hash });
  await tailer.shows(followingAt(19));
  world.daemon.tree.extend(3);
  notifications.announce({ kind: 'missed' });
  await tailer.shows(followingAt(22));
  expect(await world.hashes()).toEqual(world.daemonHashes());
});

it('an announced block that the daemon does not have, or no longer has, changes nothing', async () => {
  const notifications = createAnnouncer();
  const tailer = world.start({ notifications, pollMs: NEVER_MS });
  await tailer.shows(followingAt(0));
  const orphan = world.daemon.tree.extend(1).hash;
  const { hash } = world.daemon.tree.reorganise(1, 1);
  notifications.announce({ kind: 'block', hash: 'f'.repeat(64) });
  notifications.announce({ kind: 'block', hash: orphan });
  notifications.announce({ kind: 'block', hash });
  await tailer.shows(followingAt(1));
  expect(await world.hashes()).toEqual(world.daemonHashes());
  expect((await world.fold()).rewinds).toEqual([]);
});

it('a block that only polling has found is reported to the notifications', async () => {
  const notifications = createAnnouncer();
  const tailer = world.start({ notifications: { ...notifications, publishers: () => [] } });
  await tailer.shows(followingAt(0));
  const { hash } = world.daemon.tree.extend(1);
  await tailer.shows(followingAt(1));
  expect(notifications.seen).toEqual([hash]);
});

it('keeps a bounded number of hashes', () => {
  const notifications = createAnnouncer();
  const announced = announcedBlocks(notifications);
  const hashes = Array.from({ length: 16 }, (_, index) => `${index}`);
  for (const hash of hashes) notifications.announce({ kind: 'block', hash });
  expect(hashes.map(() => announced.take())).toEqual(hashes);
  for (let index = 100; index < 200; index += 1) notifications.announce({ kind: 'block', hash: `${index}` });
  expect(announced.take()).toBeNull();
  expect(announced.take()).toBeNull();
});
