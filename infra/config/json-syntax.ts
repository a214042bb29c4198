/** Parses a JSON file; its errors give a place and never quote the file, because the text around an error may be a password. */
import { parse } from 'lossless-json';

/** @throws SyntaxError with the line and column of the first error */
export function parseJsonFile(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.slice(0, errorPosition(text)).split('\n');
    throw new SyntaxError(`not valid JSON at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`);
  }
}

/** JSON.parse of Node.js 22 gives a position for some errors only; lossless-json gives one for each. */
function errorPosition(text: string): number {
  try {
    parse(text);
  } catch (error) {
    const position = / at position (\d+)$/.exec((error as Error).message)?.[1];
    if (position !== undefined) return Number(position);
  }
  return text.length;
}
