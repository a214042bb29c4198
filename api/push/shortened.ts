/** What a client wrote, as an error tells it back: no longer than one needs to recognise it. */
const LONGEST = 64;

export function shortened(text: string): string {
  return JSON.stringify(text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);
}
