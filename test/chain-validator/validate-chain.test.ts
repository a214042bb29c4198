import { describe, expect, it } from 'vitest';
import { rawMember } from '../../domain/json/raw-json.ts';
import { createChain, type GeneratedChainOptions } from '../generator/chain.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { RECORDED_CHAIN, recordedText } from '../support/processors/recorded-chain.ts';
import { createChainValidator, GENERATED_CHAIN, type ValidatorOptions } from './validate-chain.ts';

const COIN = 100_000_000n;
const PCHAIN = 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV';

function validated(texts: Iterable<string>, options: ValidatorOptions = GENERATED_CHAIN) {
  const validator = createChainValidator(options);
  for (const text of texts) validator.block(text);
  return validator;
}

function recorded(file: string): string[] {
  const lines = recordedText(file).split('\n');
  return lines.filter((line) => line !== '').map((line) => rawMember(line, 'block') ?? '');
}

function* generated(options: GeneratedChainOptions, blocks: number): Generator<string> {
  const chain = createChain(options);
  for (let made = 0; made < blocks; made++) yield chain.next().text;
}

describe('a recorded chain', () => {
  it('passes: the private network', () => {
    expect(validated(recorded('blocks.jsonl.gz')).faults).toEqual([]);
  });

  it('passes: the root of the pair', () => {
    expect(validated(recorded('../pbaas/root/blocks.jsonl.gz')).faults).toEqual([]);
  });

  it('passes: the chain that the root launched', () => {
    const chain = { ...RECORDED_CHAIN, nativeCurrencyId: PCHAIN };
    // Its first block pays out the launch.
    const subsidy = (height: number) => (height < 2 ? null : 12n * COIN);
    expect(validated(recorded('../pbaas/pchain/blocks.jsonl.gz'), { chain, subsidy }).faults).toEqual([]);
  });
});

describe('a chain that was tampered with', () => {
  const honest = [...generated({ seed: 7, addresses: 5, transactions: 5 }, 40)];
  const tampered = (height: number, change: (text: string) => string, chain = honest): string[] => {
    const texts = [...chain];
    const before = texts[height] ?? '';
    texts[height] = change(before);
    expect(texts[height]).not.toBe(before);
    return texts;
  };
  const faultsOf = (texts: string[]): string => validated(texts).faults.join('\n');

  it('fails for a number in another format', () => {
    expect(faultsOf(tampered(20, (text) => text.replace('"value":0.00000000', '"value":0')))).toContain('8 decimals');
  });

  it('fails for a key that is unknown, missing or in the wrong place', () => {
    expect(faultsOf(tampered(20, (text) => text.replace('"segid":-2,', '')))).toContain('segid is missing');
    expect(faultsOf(tampered(20, (text) => text.replace('"n":0,', '"n":0,"m":1,')))).toContain('in another place');
    expect(faultsOf(tampered(20, (text) => text.replace(/("time":\d+),("nonce":"\w+")/, '$2,$1')))).toContain(
      'time is missing',
    );
  });

  it('fails for a coinbase that takes a satoshi more', () => {
    const more = (text: string) =>
      text.replace(/"value":(\d+\.\d{7})(\d),"valueZat":(\d+),"valueSat":(\d+)/, (_, coins, last, zat) => {
        const sum = String(Number(last) < 9 ? Number(last) + 1 : 8);
        const satoshis = BigInt(zat) + (Number(last) < 9 ? 1n : -1n);
        return `"value":${coins}${sum},"valueZat":${satoshis},"valueSat":${satoshis}`;
      });
    expect(faultsOf(tampered(20, more))).toContain('its coinbase makes');
  });

  it('fails for coins spent twice', () => {
    const spend = /\{"txid":"\w+","vout":\d+,"scriptSig".*?"sequence":4294967295\}/;
    const first = honest.find((text) => spend.test(text));
    const [spent = ''] = spend.exec(first ?? '') ?? [];
    const height = honest.findLastIndex((text) => text !== first && spend.test(text));
    expect(() => validated(tampered(height, (text) => text.replace(spend, spent)))).toThrow(/unspent/);
  });

  describe('in its currencies and identities', () => {
    const rich = [...generated({ seed: 5, addresses: 8, transactions: 8, mix: EVERYTHING }, 120)];
    /** Replaces the part in `pattern`'s only group, in the last block that matches. */
    const faultsAfter = (pattern: RegExp, part: (old: string) => string): string => {
      const height = rich.findLastIndex((text) => pattern.test(text));
      const change = (text: string) => text.replace(pattern, (found, old: string) => found.replace(old, part(old)));
      return faultsOf(tampered(height, change, rich));
    };
    const more = (coins: string) => (Number(coins) + 1).toFixed(8);
    /** A launched basket. */
    const live =
      /"currencystate":\{"flags":49,"version":1,"currencyid":"i\w+","reservecurrencies":\[\{"currencyid":"\w+","weight":[\d.]+,/;
    const member = (name: string) => new RegExp(`${live.source}[^\n]*?"${name}":([\\d.]+)`);

    it('fails for reserves without deposits', () => {
      expect(faultsAfter(member('reserves'), more)).toContain('in deposits');
    });

    it('fails for a supply that is not in the outputs', () => {
      expect(faultsAfter(member('supply'), more)).toContain('above its outputs');
    });

    it('fails for a price at which no transfer was paid', () => {
      const price =
        /"reservein":(?!0\.00000000)[\d.]+,"primarycurrencyin":[\d.]+,"reserveout":[\d.]+,"lastconversionprice":([\d.]+)/;
      const bought = /[^}]*\}[^[]*?"primarycurrencyout":[1-9]/;
      const converted = new RegExp(`${live.source}[^\\n]*?${price.source}${bought.source}`);
      expect(faultsAfter(converted, (old) => (Number(old) * 3).toFixed(8))).toContain('no output of the import');
    });

    it('fails for a name that belongs to another address', () => {
      expect(
        faultsAfter(
          /"minimumsignatures":1,"name":"(\w+)","identityaddress":"\w+","parent":"iJhCezBEx/,
          () => 'mallory',
        ),
      ).toContain('is not the address of');
    });
  });

  it('fails for a missing block', () => {
    expect(() => validated(honest.filter((_, height) => height !== 20))).toThrow(/does not follow/);
  });
});
