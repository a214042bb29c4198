/** What a receiver answered, as its owner is shown it: text of a stranger, bounded, which Postgres can store. */
export interface ShownAnswer {
  readonly text: string;
  /** Whether the answer goes on. */
  readonly isCut: boolean;
}

const SHOWN_BYTES = 2_048;

/** Reads up to so many bytes, which leaves the connection usable; a longer answer, and one that breaks off, ends there. */
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
    // The status has been answered, and only that counts.
  }
  return Buffer.concat(kept);
}

/** As UTF-8; what is not, and NUL, becomes U+FFFD. */
export function shownAnswer(bytes: Uint8Array): ShownAnswer {
  const isCut = bytes.length > SHOWN_BYTES;
  // A character that the cut divides is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES), { stream: isCut });
  return { text: text.replaceAll('\0', '\uFFFD'), isCut };
}
