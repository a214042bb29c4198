/** Finds a recorded estimateconversion at the recorded tip, however the call names its currencies and writes its amount. */
import { coinsToSatoshis, satoshisToCoins } from '../../domain/satoshi.ts';
import { createCurrencyNames } from './currency-names.ts';
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
  const nameOf = createCurrencyNames(recording);

  /** The recorded spelling of a currency, as JSON. */
  function recorded(text: string): string {
    const given = stringParam(text);
    const known = given === null ? undefined : nameOf(given);
    return known === undefined ? text : JSON.stringify(known);
  }

  return {
    estimateconversion(view, [transfer = '', ...rest]) {
      if (!view.atRecordedTip || !transfer.startsWith('{') || rest.length > 0) return null;
      const members = readPairs(transfer);
      const amount = members.find(([key]) => key === 'amount')?.[1] ?? '';
      for (const spelling of spellingsOf(amount)) {
        const texts = members.map(([key, text]) => {
          const value = key === 'amount' ? spelling : NAMED.has(key) ? recorded(text) : text;
          return `${JSON.stringify(key)}:${value}`;
        });
        const answer = calls.find('estimateconversion', `[{${texts.join(',')}}]`);
        if (answer && 'result' in answer) return answer.result;
      }
      return null;
    },
  };
}
