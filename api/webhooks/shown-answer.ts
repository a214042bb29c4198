/** A receiver's answer as its owner is shown it: text of a stranger, bounded, which Postgres can store. */
export interface ShownAnswer {
  readonly text: string;
  /** Whether the answer was longer. */
  readonly isCut: boolean;
}

const SHOWN_BYTES = 2_048;

/** Reads up to `most` bytes, so that the connection stays usable, and returns the first ones. Stops if the answer breaks off. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes <= SHOWN_BYTES) kept.push(chunk);
      bytes += chunk.length;
      if (bytes > most) break;
    }
  } catch {
    // The status has arrived, and only the status counts.
  }
  return Buffer.concat(kept);
}

/** Decodes UTF-8; invalid bytes and NUL become U+FFFD. */
export function shownAnswer(bytes: Uint8Array): ShownAnswer {
  const isCut = bytes.length > SHOWN_BYTES;
  // A character that the cut divides is omitted.
  const text = new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES), { stream: isCut });
  return { text: text.replaceAll('\0', '\uFFFD'), isCut };
}
