/** Finds a recorded estimateconversion at the recorded tip, however the call names its currencies and writes its amount. */
import { coinsToSatoshis, satoshisToCoins } from '../../domain/satoshi.ts';
import { readCurrencyNames } from './currency-names.ts';
import { type Derivations, stringParam } from './derivation.ts';
import { readPairs } from './members.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { Recording } from './recording.ts';

const NAMED = new Set(['currency', 'convertto', 'via']);

/** All ways in which a recorded call may have written an amount of coins: 12.5, "12.5", 12.50000000 … */
function spellingsOf(amount: string): string[] {
  const coins = stringParam(amount) ?? amount;
  if (!/^\d{1,10}(\.\d{1,8})?$/.test(coins)) return [amount];
  const exact = satoshisToCoins(coinsToSatoshis(coins));
  const short = exact.replace(/\.?0+$/, '');
  return [...new Set([short, exact, JSON.stringify(short), JSON.stringify(exact)])];
}

export function createEstimateDerivations(recording: Recording, calls: RecordedCalls): Derivations {
  let names: ReadonlyMap<string, string> | undefined;

  function nameOf(text: string): string {
    names ??= readCurrencyNames(recording);
    const given = stringParam(text);
    const known = given === null ? undefined : (names.get(given) ?? names.get(given.toLowerCase()));
    return known === undefined ? text : JSON.stringify(known);
  }

  return {
    estimateconversion(view, [transfer = '', ...rest]) {
      if (!view.atRecordedTip || !transfer.startsWith('{') || rest.length > 0) return null;
      const members = readPairs(transfer);
      const amount = members.find(([key]) => key === 'amount')?.[1] ?? '';
      for (const spelling of spellingsOf(amount)) {
        const texts = members.map(([key, text]) => {
          const value = key === 'amount' ? spelling : NAMED.has(key) ? nameOf(text) : text;
          return `${JSON.stringify(key)}:${value}`;
        });
        const recorded = calls.find('estimateconversion', `[{${texts.join(',')}}]`);
        if (recorded && 'result' in recorded) return recorded.result;
      }
      return null;
    },
  };
}
