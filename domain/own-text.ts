/**
 * A copy of a text that keeps nothing else in memory. V8 cuts a text of 13 characters or more out of a larger one without copying it, so
 * that whoever keeps the part keeps the whole.
 */
export function ownText(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const copy = bytes.toString('latin1');
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}
