/** The waiting transactions of one chain's mempool and its recent changes, numbered. REST and the push stream read both from here. */
import { randomBytes } from 'node:crypto';
import type { BlockRef } from '../../domain/block-ref.ts';
import { partitionPoint } from '../../domain/partition-point.ts';
import type { MempoolLook, UnconfirmedOutcome, UnconfirmedTransaction } from '../../schemas/mempool.ts';

export interface WaitingTransaction {
  readonly transaction: UnconfirmedTransaction;
  /** Seconds since the epoch, when this process first saw the transaction. */
  readonly seenAt: number;
  /** Number of the change that added the transaction. */
  readonly number: number;
  /** Number of the change that removed the transaction; null while it waits. */
  readonly goneWith: number | null;
  readonly outcome: UnconfirmedOutcome | null;
}

export interface JournalChange {
  readonly number: number;
  readonly kind: 'waits' | 'gone';
  readonly entry: WaitingTransaction;
}

export interface MempoolJournal {
  readonly chain: string;
  /** Changes with every change of the mempool; differs between processes and between starts of a process. */
  readonly version: string;
  /** Null before the first look. */
  readonly last: LookStatus | null;
  /** Number of the newest change. */
  readonly head: number;
  readonly count: number;
  /** The waiting transactions, ordered by number. */
  waiting(): Iterable<WaitingTransaction>;
  /** Finds a transaction that waits or was removed recently. */
  find(txid: string): WaitingTransaction | undefined;
  /** Transactions numbered `from` or higher that waited when `at` was the newest change; undefined if that is too long ago. */
  waitingAt(at: number, from: number): Iterable<WaitingTransaction> | undefined;
  /** The changes after `number`; undefined if they are no longer kept. */
  after(number: number): Iterable<JournalChange> | undefined;
  /** Calls `changed` after the first look and after every look with changes, until the returned function is called. */
  onChange(changed: () => void): () => void;
  record(look: MempoolLook): void;
}

export interface LookStatus {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly index: BlockRef | null;
  readonly listed: number;
  /** Whether the daemon holds more transactions than are published. */
  readonly truncated: boolean;
}

interface Entry extends WaitingTransaction {
  goneWith: number | null;
  outcome: UnconfirmedOutcome | null;
}

export interface JournalLimits {
  /** Most changes kept, and most bytes of removed transactions, which are kept only for those changes. */
  readonly changes: number;
  readonly goneBytes: number;
}

const LIMITS: JournalLimits = { changes: 20_000, goneBytes: 32 * 1024 * 1024 };

/** Entries ordered by number; entries whose changes have been dropped are removed in batches. */
function createEntries() {
  let entries: Entry[] = [];
  let forgotten = 0;

  const indexFrom = (from: number) => partitionPoint(entries, ({ number }) => number < from);

  return {
    push: (entry: Entry) => void entries.push(entry),
    *standing(at: number, from: number): Generator<WaitingTransaction> {
      for (let place = indexFrom(from); place < entries.length; place += 1) {
        const entry = entries[place];
        if (!entry || entry.number > at) return;
        if (entry.goneWith === null || entry.goneWith > at) yield entry;
      }
    },
    /** Notes that `count` more entries were removed by changes before `first`. */
    forget(count: number, first: number): void {
      forgotten += count;
      if (forgotten * 2 <= entries.length) return;
      entries = entries.filter(({ goneWith }) => goneWith === null || goneWith >= first);
      forgotten = 0;
    },
  };
}

export function createJournal(chain: string, limits: JournalLimits = LIMITS, now = () => Date.now()): MempoolJournal {
  const epoch = randomBytes(6).toString('base64url');
  const live = new Map<string, Entry>();
  const gone = new Map<string, Entry>();
  const followers = new Set<() => void>();
  const entries = createEntries();
  /** The oldest kept change has the number `first`. */
  let changes: JournalChange[] = [];
  let first = 1;
  let head = 0;
  let goneBytes = 0;
  let last: LookStatus | null = null;

  function add(kind: JournalChange['kind'], entry: Entry): void {
    changes.push({ number: head, kind, entry });
  }

  /** Drops the changes before `number`. */
  function forgetUpTo(number: number): void {
    let forgotten = 0;
    for (const { kind, entry } of changes.slice(0, number - first)) {
      if (kind !== 'gone') continue;
      goneBytes -= entry.transaction.bytes;
      forgotten += 1;
      if (gone.get(entry.transaction.txid) === entry) gone.delete(entry.transaction.txid);
    }
    changes = changes.slice(number - first);
    first = number;
    entries.forget(forgotten, first);
  }

  function forget(): void {
    let keptFrom = Math.max(first, head + 1 - limits.changes);
    let excess = goneBytes - limits.goneBytes;
    for (let at = 0; excess > 0 && at < changes.length; at += 1) {
      const change = changes[at];
      if (change?.kind === 'gone') excess -= change.entry.transaction.bytes;
      keptFrom = Math.max(keptFrom, first + at + 1);
    }
    if (keptFrom > first) forgetUpTo(keptFrom);
  }

  function* following(number: number): Generator<JournalChange> {
    for (let next = number + 1; next <= head; next += 1) {
      const change = changes[next - first];
      if (!change) return;
      yield change;
    }
  }

  return {
    chain,
    get version() {
      return `${epoch}${head}`;
    },
    get last() {
      return last;
    },
    get head() {
      return head;
    },
    get count() {
      return live.size;
    },
    waiting: () => live.values(),
    find: (txid) => live.get(txid) ?? gone.get(txid),
    waitingAt: (at, from) => (at + 1 < first ? undefined : entries.standing(at, from)),
    after: (number) => (number + 1 < first ? undefined : following(number)),
    onChange(changed) {
      followers.add(changed);
      return () => void followers.delete(changed);
    },
    record(look) {
      const at = now();
      for (const change of look.changes) {
        const { txid } = change.transaction;
        head += 1;
        if (change.kind === 'waits') {
          const seenAt = Math.floor(at / 1000);
          const entry: Entry = { transaction: change.transaction, seenAt, number: head, goneWith: null, outcome: null };
          live.set(txid, entry);
          gone.delete(txid);
          entries.push(entry);
          add('waits', entry);
          continue;
        }
        const entry = live.get(txid);
        if (!entry) throw new RangeError(`${txid} is removed but was not waiting`);
        live.delete(txid);
        gone.set(txid, entry);
        Object.assign(entry, { goneWith: head, outcome: change.outcome });
        goneBytes += entry.transaction.bytes;
        add('gone', entry);
      }
      const isFirst = last === null;
      last = { at, index: look.index, listed: look.listed, truncated: look.withheld > 0 };
      forget();
      if (isFirst || look.changes.length > 0) for (const changed of followers) changed();
    },
  };
}
