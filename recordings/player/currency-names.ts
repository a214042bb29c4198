/** Names of the currencies of a recording. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from './recording.ts';

/** The recorded name of each currency, by its lower-case name and by its i-address. */
export function readCurrencyNames({ folder }: Pick<Recording, 'folder'>): Map<string, string> {
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
