/** Prints answers in pieces, and lets other work of the process run between the pieces. */
import { printExact } from '../../domain/json/exact-json.ts';
import { printPieces } from '../../domain/json/print-pieces.ts';
import { quoteNumbers } from '../../domain/json/quote-numbers.ts';
import { inTurns } from '../state/in-turns.ts';
import { numbersAsText } from './numbers.ts';

const printAsText = (value: unknown) => printExact(numbersAsText(value));

/** Prints a value as a line of JSON. */
export async function printedJson(value: unknown, isText: boolean): Promise<Buffer> {
  const pieces = await inTurns(printPieces(value, isText ? printAsText : undefined), (piece) => Buffer.from(piece));
  return Buffer.concat([...pieces, NEWLINE]);
}

/** Turns the numbers of JSON that another program has printed into strings. */
export async function withTextNumbers(json: Uint8Array): Promise<Buffer> {
  return Buffer.concat(await inTurns(quoteNumbers(json), (piece) => piece));
}

const NEWLINE = Buffer.from('\n');
