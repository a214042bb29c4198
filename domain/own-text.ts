/**
 * Returns a copy of a text that keeps no larger text in memory: V8 slices 13 characters or more out of a larger text without copying
 * them, so a slice that is kept keeps the whole text.
 */
export function ownText(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const copy = bytes.toString('latin1');
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}
