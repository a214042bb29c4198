/** Names of the currencies of a recording. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from './recording.ts';

/** Returns a function that finds a currency's recorded name by its name, in any case, or its i-address; it reads the file when first called. */
export function createCurrencyNames(recording: Recording): (text: string) => string | undefined {
  let names: ReadonlyMap<string, string> | undefined;
  return (text) => {
    names ??= readNames(recording);
    return names.get(text) ?? names.get(text.toLowerCase());
  };
}

function readNames({ folder }: Recording): ReadonlyMap<string, string> {
  const { currencies } = JSON.parse(readFileSync(join(folder, 'network.json'), 'utf8')) as {
    currencies: Record<string, { currencyid: string }>;
  };
  return new Map(
    Object.entries(currencies).flatMap(([name, { currencyid }]) => [
      [name.toLowerCase(), name],
      [currencyid, name],
    ]),
  );
}
