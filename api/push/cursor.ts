/** Where a reader of the push stream stands, as text: for each chain the next event of the `facts` topic. */
import { PermanentError } from '../../schemas/errors.ts';

/** The next event to deliver: `index` counts the events of the record at `position`. */
export interface Place {
  readonly position: number;
  readonly index: number;
}

/** By chain name. */
export type Places = ReadonlyMap<string, Place>;

export class CursorInvalid extends PermanentError {
  constructor() {
    super('cursor_invalid', 'the cursor is not one that this service has given: take it from a message as it is');
  }
}

/** Places of the `facts` topic only; a version of its own comes with the next topic. */
const VERSION = 1;

/** Short enough to be the reason of a WebSocket close (123 bytes) for a handful of chains; safe in a URL. */
export function encodePlaces(places: Places): string {
  const bytes: number[] = [VERSION];
  for (const [chain, { position, index }] of places) {
    const name = Buffer.from(chain, 'utf8');
    bytes.push(name.length, ...name);
    pushVarint(bytes, position);
    pushVarint(bytes, index);
  }
  return Buffer.from(bytes).toString('base64url');
}

/** @throws CursorInvalid */
export function decodePlaces(text: string): Places {
  if (!/^[A-Za-z0-9_-]{2,1000}$/.test(text)) throw new CursorInvalid();
  const bytes = Buffer.from(text, 'base64url');
  if (bytes[0] !== VERSION || bytes.toString('base64url') !== text) throw new CursorInvalid();
  const places = new Map<string, Place>();
  let at = 1;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > Number.MAX_SAFE_INTEGER) throw new CursorInvalid();
      value += (byte % 128) * scale;
      if (byte < 128) break;
    }
    if (!Number.isSafeInteger(value)) throw new CursorInvalid();
    return value;
  };
  while (at < bytes.length) {
    const length = varint();
    const chain = bytes.toString('utf8', at, at + length);
    at += length;
    if (at > bytes.length || length === 0 || places.has(chain)) throw new CursorInvalid();
    places.set(chain, { position: varint(), index: varint() });
  }
  return places;
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
