/** The checker of the stream check finds every kind of fault. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePlaces } from '../../api/push/cursor.ts';
import { checkHistory, type Truth } from './check-history.ts';
import { type ClientHistory, type HeardEvent, UNDO_OF_PRICES } from './history.ts';

const CHAINS = ['a', 'b'] as const;
const hash = (height: number, branch: number) => `${height}/${branch}`;

/** A chain of `lengths.length` branches: each grows by its length, and is then partly undone. */
function happened(chain: string, lengths: readonly number[]): { events: HeardEvent[]; blocks: string[] } {
  const events: HeardEvent[] = [];
  const blocks: string[] = [];
  let position = 0;
  const record = (content: readonly (readonly [type: string, data: object])[]) => {
    for (const [index, [type, data]] of content.entries())
      events.push({ feed: chain, position, index, type, content: JSON.stringify(data) });
    position += 1;
  };
  for (const [branch, length] of lengths.entries()) {
    for (let made = 0; made < length + 1; made += 1) {
      const height = blocks.length;
      const block = { height, hash: hash(height, branch), previousHash: blocks.at(-1) ?? null };
      blocks.push(block.hash);
      record([
        ['block', block],
        ['tx', { txid: `${block.hash}.0` }],
        ['tx', { txid: `${block.hash}.1` }],
      ]);
    }
    if (branch === lengths.length - 1) break;
    const fromHeight = blocks.length - 1;
    blocks.splice(blocks.length - Math.min(length, blocks.length - 1));
    const toHeight = blocks.length - 1;
    if (toHeight < fromHeight) record([['undo', { fromHeight, toHeight, hash: blocks.at(-1), reason: 'reorg' }]]);
  }
  return { events, blocks };
}

function runOf(
  lengths: readonly (readonly number[])[],
  types: readonly string[],
): { truth: Truth; history: ClientHistory } {
  const chains = CHAINS.map((chain, number) => [chain, happened(chain, lengths[number] ?? [])] as const);
  const all = chains.flatMap(([, { events }]) => events);
  return {
    truth: {
      events: new Map(chains.map(([chain, { events }]) => [chain, events])),
      ends: new Map(chains.map(([chain]) => [chain, Number.POSITIVE_INFINITY])),
      hashAt: (chain, height) => new Map(chains).get(chain as 'a')?.blocks[height],
    },
    history: {
      client: 'one',
      types: new Set(['undo', ...types]),
      confirmations: 0,
      from: encodePlaces(new Map(CHAINS.map((chain) => [chain, { position: 0, index: 0 }]))),
      events: all.filter(({ type }) => type === 'undo' || types.includes(type)),
      faults: [],
    },
  };
}

const lengths = fc.array(fc.nat(5), { minLength: 2, maxLength: 5 });
const runs = fc.record({ lengths: fc.tuple(lengths, lengths), types: fc.subarray(['block', 'tx'], { minLength: 1 }) });
const at = fc.nat();

type Tamper = (events: HeardEvent[], index: number) => void;
const TAMPERS: Readonly<Record<string, Tamper>> = {
  'omits an event': (events, index) => events.splice(index, 1),
  'sends an event twice': (events, index) => events.splice(index, 0, events[index] as HeardEvent),
  'sends an event again, later': (events, index) => events.push(events[index] as HeardEvent),
  'alters an event': (events, index) => {
    const event = events[index] as HeardEvent;
    events[index] = { ...event, content: event.content.replace('{', '{"x":1,') };
  },
  'sends an event that never happened': (events, index) => {
    const event = events[index] as HeardEvent;
    events.splice(index + 1, 0, { ...event, index: 7 });
  },
  'changes the type of an event': (events, index) => {
    events[index] = { ...(events[index] as HeardEvent), type: 'identity' };
  },
};

describe('the checker', () => {
  it('finds nothing in a correct history, with chains interleaved in any way', () => {
    fc.assert(
      fc.property(runs, fc.infiniteStream(fc.boolean()), ({ lengths, types }, draws) => {
        const { truth, history } = runOf(lengths, types);
        const [a, b] = CHAINS.map((chain) => history.events.filter((event) => event.feed === chain));
        const events: HeardEvent[] = [];
        while (a?.length || b?.length) {
          const event = (draws.next().value ? a : b)?.shift() ?? a?.shift() ?? b?.shift();
          if (event) events.push(event);
        }
        expect(checkHistory({ ...history, events }, truth)).toEqual([]);
      }),
    );
  });

  it.each(Object.entries(TAMPERS))('finds a stream that %s', (_, tamper) => {
    fc.assert(
      fc.property(runs, at, ({ lengths, types }, place) => {
        const { truth, history } = runOf(lengths, types);
        const events = [...history.events];
        tamper(events, place % events.length);
        expect(checkHistory({ ...history, events }, truth)).not.toEqual([]);
      }),
    );
  });

  it('finds two events of one chain in the wrong order', () => {
    fc.assert(
      fc.property(runs, at, ({ lengths, types }, place) => {
        const { truth, history } = runOf(lengths, types);
        const events = [...history.events];
        const first = place % (events.length - 1);
        const [one, two] = [events[first], events[first + 1]] as [HeardEvent, HeardEvent];
        fc.pre(one.feed === two.feed);
        events.splice(first, 2, two, one);
        expect(checkHistory({ ...history, events }, truth).join()).toMatch(/came after/);
      }),
    );
  });

  it('finds an undo that the server itself never sent, without knowing what happened', () => {
    const { truth, history } = runOf([[3, 2], [1]], ['block']);
    const withoutUndo = (events: readonly HeardEvent[]) => events.filter(({ type }) => type !== 'undo');
    const events = new Map([...truth.events].map(([chain, all]) => [chain, withoutUndo(all)]));
    const faults = checkHistory({ ...history, events: withoutUndo(history.events) }, { ...truth, events });
    expect(faults.join()).toMatch(/block \d sent on top of/);
  });

  it('finds prices that were sent below a height that still holds', () => {
    const price = (position: number, height: number): HeardEvent => {
      return { feed: 'a/stamps', position, index: 0, type: 'price', content: JSON.stringify({ height }) };
    };
    const undo = { fromHeight: 9, toHeight: 7 };
    const back = { feed: 'a/stamps', position: 2, index: 0, type: UNDO_OF_PRICES, content: JSON.stringify(undo) };
    const faultsOf = (events: HeardEvent[]) => {
      const types = new Set(['price', UNDO_OF_PRICES]);
      const truth = {
        events: new Map([['a/stamps', events]]),
        ends: new Map([['a/stamps', 99]]),
        hashAt: () => undefined,
      };
      return checkHistory(
        { client: 'one', types, from: encodePlaces(new Map()), events, faults: [], confirmations: 0 },
        truth,
      ).join();
    };
    expect(faultsOf([price(0, 8), price(1, 9), back, price(3, 8)])).toBe('');
    expect(faultsOf([price(0, 8), price(1, 9), price(3, 8)])).toMatch(/of block 8 after 9/);
    expect(faultsOf([price(0, 8), price(1, 10), back])).toMatch(/while 10 was the top/);
  });

  it('passes on faults that the client itself has noticed', () => {
    const { truth, history } = runOf([[1], [1]], ['tx']);
    expect(checkHistory({ ...history, faults: ['seq 7 after 5'] }, truth)).toEqual(['one: seq 7 after 5']);
  });
});
