/** Shortens a client's input for an error message to a recognisable length. */
const LONGEST = 64;

export function shortened(text: string): string {
  return JSON.stringify(text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);
}
