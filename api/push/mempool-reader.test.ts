/** Whenever a client subscribes and however slowly it reads, its messages yield all waiting transactions, each once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { MempoolChange } from '../../schemas/mempool.ts';
import { unconfirmed } from '../../test/support/processors/mempool/doubles.ts';
import { createJournal } from '../mempool/journal.ts';
import { createMempoolReader } from './mempool-reader.ts';

const CHAIN = 'c';
const LIMITS = { changes: 12, goneBytes: 8_000 };

const step = fc.oneof(
  fc.record({ kind: fc.constant('look'), comes: fc.nat({ max: 60 }), goes: fc.array(fc.nat(), { maxLength: 20 }) }),
  fc.record({ kind: fc.constant('read'), messages: fc.nat({ max: 8 }) }),
  fc.record({ kind: fc.constant('subscribe') }),
);

function createClient(journal: ReturnType<typeof createJournal>, wants: (txid: string) => boolean) {
  let held = new Set<string>();
  let isWhole = false;
  let left = 0;
  const reader = createMempoolReader({
    journals: [journal],
    wantsChain: () => true,
    wants: (_, { transaction }) => wants(transaction.txid),
    write(type, _, text) {
      left -= 1;
      const data = JSON.parse(text);
      if (type === 'mempool_snapshot') {
        if (data.first) held = new Set();
        else expect(isWhole).toBe(false);
        isWhole = !data.more;
        for (const { txid } of data.transactions) {
          expect(held.has(txid)).toBe(false);
          held.add(txid);
        }
        return;
      }
      expect(isWhole).toBe(true);
      if (type === 'mempool_gone') expect(held.delete(data.txid)).toBe(true);
      else {
        expect(held.has(data.txid)).toBe(false);
        held.add(data.txid);
      }
    },
  });
  return {
    reader,
    read(messages: number) {
      left = messages;
      // The end has passed, so each call sends one message.
      while (left > 0 && reader.isBehind) reader.send(0, () => left > 0);
    },
    get held() {
      return held;
    },
  };
}

it('yields what waits at the end; sends no transaction twice, and removes none that was not sent', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), fc.boolean(), (steps, filters, subscribesFirst) => {
      const journal = createJournal(CHAIN, LIMITS, () => 0);
      const wants = (txid: string) => !filters || txid.endsWith('0');
      const client = createClient(journal, wants);
      if (subscribesFirst) client.reader.restart();
      let made = 0;
      const waiting = new Set<string>();
      const transactions = new Map<string, ReturnType<typeof unconfirmed>>();
      for (const one of steps) {
        if (one.kind === 'subscribe') client.reader.restart();
        else if (one.kind === 'read') client.read(one.messages);
        else {
          const changes: MempoolChange[] = [];
          for (const at of one.goes) {
            const txid = [...waiting][at % Math.max(1, waiting.size)];
            const transaction = txid === undefined ? undefined : transactions.get(txid);
            if (!transaction) continue;
            waiting.delete(transaction.txid);
            changes.push({ kind: 'gone', transaction, outcome: { reason: 'dropped' } });
            // Some transactions come back.
            if (at % 3 === 0) {
              waiting.add(transaction.txid);
              changes.push({ kind: 'waits', transaction });
            }
          }
          for (let count = 0; count < one.comes; count += 1) {
            const txid = String(made++).padStart(64, '0');
            const transaction = unconfirmed({ txid, spends: [], expiryHeight: 0 });
            transactions.set(txid, transaction);
            waiting.add(txid);
            changes.push({ kind: 'waits', transaction });
          }
          journal.record({ changes, index: null, listed: waiting.size, withheld: 0 });
        }
      }
      if (!subscribesFirst && !steps.some(({ kind }) => kind === 'subscribe')) client.reader.restart();
      client.read(Number.POSITIVE_INFINITY);
      const expected = [...waiting].filter(wants).sort();
      if (journal.last) expect([...client.held].sort()).toEqual(expected);
      expect([...journal.waiting()].map(({ transaction }) => transaction.txid).sort()).toEqual([...waiting].sort());
    }),
    { numRuns: 300 },
  );
});

it('yields it without a new subscription, too, after the client has fallen behind', () => {
  const journal = createJournal(CHAIN, LIMITS, () => 0);
  const client = createClient(journal, () => true);
  client.reader.restart();
  const transactions = Array.from({ length: 200 }, (_, at) =>
    unconfirmed({ txid: String(at).padStart(64, '0'), spends: [], expiryHeight: 0 }),
  );
  const came = transactions.map((transaction) => ({ kind: 'waits', transaction }) as const);
  journal.record({ changes: came, index: null, listed: 200, withheld: 0 });
  client.read(1); // a part of the snapshot
  const went = transactions.slice(0, 100).map((transaction) => {
    return { kind: 'gone', transaction, outcome: { reason: 'dropped' } } as const;
  });
  journal.record({ changes: went, index: null, listed: 100, withheld: 0 });
  client.read(Number.POSITIVE_INFINITY);
  expect([...client.held].sort()).toEqual(transactions.slice(100).map(({ txid }) => txid));
});
