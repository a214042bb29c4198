/**
 * A bot that follows conversions. It saves its state together with the cursor, so it can be killed at any moment and resumes without losing a
 * conversion or counting it twice; a reorganisation reverts the conversions of the removed blocks.
 *
 *   node examples/follow-conversions.ts [http://127.0.0.1:8080] [state file]      VERUSTREAM_KEY: an API key, if you have one
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ConversionEvent } from '../client/stream/messages.ts';
import { openStream } from '../client/stream/stream.ts';

interface Change {
  readonly chain: string;
  /** Height of the block that brought the conversion. */
  readonly height: number;
  readonly conversion: ConversionEvent['data'];
}

interface State {
  /** Cursor of the last event that this state includes. */
  cursor: string | null;
  /** Current height of each chain. */
  heights: Record<string, number>;
  changes: Change[];
}

/** No reorganisation is deeper than this. */
const FINAL_AFTER_BLOCKS = 1_000;
const SAVE_MS = 1_000;

const [baseUrl = 'http://127.0.0.1:8080', file = 'conversions.json'] = process.argv.slice(2);
const { VERUSTREAM_KEY: key } = process.env;
const state: State = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : { cursor: null, heights: {}, changes: [] };
let savedAt = 0;

/** Writes a new file and renames it, so that the state file is never partial. */
function save(): void {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
  savedAt = Date.now();
}

/** Height of the block that brought a conversion; null when the conversion is to be ignored. */
function broughtAt(chain: string, conversion: ConversionEvent['data']): number | null {
  // The stream sends a block before its conversions.
  if (conversion.reason !== 'no_delivery') return state.heights[chain] ?? 0;
  // A correction belongs to the block of the conversion that it corrects, and may arrive more than once.
  const { txid, vout } = conversion;
  const held = state.changes.findLast(
    (change) => change.chain === chain && change.conversion.txid === txid && change.conversion.vout === vout,
  );
  const { status, importTxid } = held?.conversion ?? {};
  return held && status === 'unmatched' && importTxid === conversion.importTxid ? held.height : null;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const stream = openStream({
  baseUrl,
  channels: ['blocks', 'conversions'],
  signal: stop.signal,
  onReconnect: ({ reason }) => console.error(`connecting again: ${reason}`),
  ...(state.cursor !== null && { cursor: state.cursor }),
  ...(key !== undefined && { key }),
});

for await (const event of stream) {
  const { type, chain } = event;
  if (type === 'block') {
    const { height } = event.data;
    state.heights[chain] = height;
    state.changes = state.changes.filter(
      (change) => change.chain !== chain || change.height > height - FINAL_AFTER_BLOCKS,
    );
  } else if (type === 'conversion') {
    const conversion = event.data;
    const height = broughtAt(chain, conversion);
    if (height !== null) state.changes.push({ chain, height, conversion });
    console.log(
      `${conversion.status.padEnd(10)}${conversion.amountIn} ${conversion.fromCurrencyId} → ${conversion.toCurrencyId}`,
    );
  } else if (type === 'undo') {
    const { toHeight } = event.data;
    state.changes = state.changes.filter((change) => change.chain !== chain || change.height <= toHeight);
    state.heights[chain] = toHeight;
    console.log(`reorganised: what blocks above ${toHeight} brought is taken back`);
  } else if (type === 'resync') {
    console.error(`events of ${chain} are lost (${event.reason}): read /api/conversions/ before you go on`);
  }
  state.cursor = event.cursor;
  if (Date.now() - savedAt >= SAVE_MS) save();
}
save();
