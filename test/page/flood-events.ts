/** Events of a chain at a rate far above what a person can read. Ids are always new, like those of a chain; currencies repeat. */

import type { ChainEvent } from '../../client/stream/messages.ts';
import { createRandom } from '../../recordings/player/faults.ts';
import type { ScriptedEvent } from './scripted-stream.ts';

type DataOf<Type extends ChainEvent['type']> = Extract<ChainEvent, { type: Type }>['data'];

const CURRENCIES = 40;
const HEX = 64;
/** Shares of the event types, in percent. */
const SHARES = { block: 2, undo: 1, conversion: 32, price: 20, price_correction: 5, mempool_tx: 22 };
/** More than the page keeps; these events come first, so that its memory is full from then on. */
const MOST_WAITING = 1_200;
const GONE = ['mined', 'conflicting', 'replaced', 'expired', 'dropped', 'left_out'] as const;

/** @returns a function that makes the next events, in the order in which a chain would publish them */
export function createFlood(chain: string, seed: number, tip: number): (count: number) => ScriptedEvent[] {
  const random = createRandom(seed);
  let ids = 0;
  let height = tip;
  let seconds = 1_790_000_000;
  const waiting: string[] = [];
  let isFilling = true;
  const hash = () => (ids++).toString(16).padStart(HEX, '0');
  const coins = () => Math.floor(random() * 1e12) / 1e8;
  const currency = () => `i${String(Math.floor(random() * CURRENCIES)).padStart(33, 'C')}`;
  const event = <Type extends ChainEvent['type']>(type: Type, data: DataOf<Type>): ScriptedEvent => ({
    type,
    chain,
    data,
  });

  function block(): ScriptedEvent {
    height += 1;
    seconds += 60;
    const validationType = random() < 0.5 ? 'stake' : 'work';
    const finalizedHeight = height - 100;
    const sizes = { txCount: 3, size: 2_000, difficulty: 1 };
    return event('block', {
      height,
      hash: hash(),
      previousHash: null,
      time: seconds,
      ...sizes,
      validationType,
      finalizedHeight,
    });
  }

  function undo(): ScriptedEvent {
    const fromHeight = height;
    height -= 1 + Math.floor(random() * 2);
    return event('undo', { fromHeight, toHeight: height, hash: hash(), reason: 'reorg' });
  }

  const conversion = () =>
    event('conversion', {
      txid: hash(),
      vout: 0,
      height,
      time: seconds,
      status: random() < 0.5 ? 'pending' : 'completed',
      type: 'convert',
      fromCurrencyId: currency(),
      toCurrencyId: currency(),
      viaCurrencyId: null,
      amountIn: coins(),
      amountOut: null,
      fee: coins(),
      source: null,
      destination: null,
      exportTxid: null,
      exportVout: null,
      exportIndex: null,
      sourceSystemId: null,
      importSystemId: null,
      importTxid: null,
      importHeight: null,
    });

  const priceOf = (currencyId: string): DataOf<'price'> => ({
    currencyId,
    height,
    time: seconds,
    usdPrice: coins(),
    emaPrice: coins(),
    totalDepth: coins(),
    tier: 1,
    sourceBasketId: null,
    provisional: random() < 0.5,
  });

  function correction(): ScriptedEvent {
    const was = priceOf(currency());
    return event('price_correction', { was, now: { ...was, provisional: false } });
  }

  function comes(): ScriptedEvent {
    const txid = hash();
    waiting.push(txid);
    return event('mempool_tx', {
      txid,
      seenAt: seconds,
      type: 'transfer',
      types: ['transfer'],
      fee: coins(),
      size: 300,
      feeRate: 1,
      expiryHeight: height + 20,
      conversionCount: 0,
      conversions: [],
      identityCount: 0,
      identities: [],
      addressCount: 0,
      addresses: [],
    });
  }

  function goes(): ScriptedEvent {
    const txid = waiting.shift() ?? hash();
    const reason = GONE[Math.floor(random() * GONE.length)] ?? 'mined';
    return event('mempool_gone', { txid, reason, byTxid: null, height, hash: hash() });
  }

  function next(): ScriptedEvent {
    isFilling &&= waiting.length < MOST_WAITING;
    if (isFilling) return comes();
    let draw = random() * 100;
    const isIt = (type: keyof typeof SHARES) => {
      draw -= SHARES[type];
      return draw < 0;
    };
    if (isIt('block')) return block();
    if (isIt('undo')) return undo();
    if (isIt('conversion')) return conversion();
    if (isIt('price')) return event('price', priceOf(currency()));
    if (isIt('price_correction')) return correction();
    return isIt('mempool_tx') && waiting.length < MOST_WAITING ? comes() : goes();
  }

  return (count) => Array.from({ length: count }, next);
}
