/** A bot's prices, reserves and pending conversions, made from a snapshot and the events after it, or from all events alone. */
import type { SnapshotNotice } from '../../client/stream/messages.ts';
import { UNDO_OF_PRICES, VALUED } from './history.ts';

interface Row {
  readonly height: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `type` is that of placeOf(), `data` that of the message. */
export interface HeldMessage {
  readonly chain: string;
  readonly type: string;
  readonly data: object;
}

export interface BotState {
  takePart(part: SnapshotNotice): void;
  takeEvent(message: HeldMessage): void;
  /** Current rows, by channel and key. */
  current(): Map<string, string>;
  rows(): number;
}

type Data = Readonly<Record<string, unknown>> & { readonly height: number; readonly time: number };

const channelOf = (type: string) =>
  type.startsWith('price') ? 'prices' : type === 'reserves' ? 'reserves' : 'conversions';

function keyOf(channel: string, data: Row['data']): string {
  return channel === 'conversions' ? `${data.txid}:${data.vout}` : String(data.currencyId);
}

export function createBotState(): BotState {
  /** Rows by chain, channel and key, in order of height. */
  let held = new Map<string, Row[]>();
  /** Height of each chain, from its blocks: a conversion does not contain the block that changed it. */
  const heights = new Map<string, number>();

  function put(chain: string, channel: string, height: number, data: Row['data'] | null): void {
    const key = `${chain} ${channel} ${keyOf(channel, data ?? {})}`;
    const others = (held.get(key) ?? []).filter((row) => row.height !== height);
    if (data) others.push({ height, data });
    held.set(
      key,
      others.sort((a, b) => a.height - b.height),
    );
  }

  function remove(chain: string, channel: string, height: number, data: Row['data']): void {
    const key = `${chain} ${channel} ${keyOf(channel, data)}`;
    held.set(
      key,
      (held.get(key) ?? []).filter((row) => row.height !== height),
    );
  }

  function undo(chain: string, isOfPrices: boolean, toHeight: number): void {
    for (const [key, rows] of held) {
      const [of, channel] = key.split(' ');
      if (of !== chain || (channel === 'prices') !== isOfPrices) continue;
      held.set(
        key,
        rows.filter(({ height }) => height <= toHeight),
      );
    }
  }

  function correct(chain: string, { was, now }: { was: Data | null; now: Data | null }): void {
    if (now) put(chain, 'prices', now.height, now);
    else if (was) remove(chain, 'prices', was.height, was);
  }

  return {
    takePart({ chain, channel, part, rows }) {
      if (part === 1) held = new Map();
      for (const { height, data } of rows) put(chain, channel, height, data);
    },
    takeEvent({ chain, type, data: told }) {
      const data = told as Data & { readonly toHeight: number };
      if (type === 'block') heights.set(chain, data.height);
      else if (type === 'undo' || type === UNDO_OF_PRICES) {
        undo(chain, type === UNDO_OF_PRICES, data.toHeight);
        if (type === 'undo') heights.set(chain, data.toHeight);
      } else if (type === 'price_correction') correct(chain, told as { was: Data | null; now: Data | null });
      else if (type === 'price' || type === 'reserves') put(chain, channelOf(type), data.height, data);
      else if (type === 'conversion') put(chain, 'conversions', heights.get(chain) ?? 0, data);
      else if (type !== VALUED && type !== 'conversion_correction') throw new Error(`a bot does not know ${type}`);
    },
    current() {
      const current = new Map<string, string>();
      const prices = new Map<string, Row & { readonly chain: string }>();
      for (const [key, rows] of held) {
        const newest = rows.at(-1);
        const [chain = '', channel, id] = key.split(' ');
        if (!newest) continue;
        if (channel === 'reserves') current.set(key, JSON.stringify(newest.data));
        if (channel === 'conversions' && newest.data.status === 'pending')
          current.set(key, JSON.stringify(newest.data));
        // A price belongs to no chain: the newest of all chains counts; of two at the same time, that of the last chain by name.
        if (channel === 'prices') {
          const other = prices.get(id ?? '');
          const later = other ? Number(newest.data.time) - Number(other.data.time) : 1;
          if (later > 0 || (later === 0 && other && other.chain < chain)) prices.set(id ?? '', { ...newest, chain });
        }
      }
      for (const [id, { data }] of prices) {
        const { usdPrice, totalDepth, tier, sourceBasketId } = data;
        current.set(`prices ${id}`, JSON.stringify([usdPrice, totalDepth, tier, sourceBasketId]));
      }
      return current;
    },
    rows: () => [...held.values()].reduce((sum, rows) => sum + rows.length, 0),
  };
}
