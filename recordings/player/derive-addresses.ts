/** Address queries at the released tip, from the movements of the recorded addresses. */
import { join } from 'node:path';
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import { coinsToSatoshis, satoshisToCoins } from '../../domain/satoshi.ts';
import type { RecordingView } from './chain-view.ts';
import { type Derivations, type Derive, stringParam } from './derivation.ts';
import { type MemberPair, printPairs, readPairs, replaceMembers } from './members.ts';
import { createTextsByKey } from './packed-texts.ts';
import { readGzip } from './read-lines.ts';
import type { Recording } from './recording.ts';

/** A movement as getaddressdeltas prints it with verbosity 1. */
interface Delta {
  readonly height: number;
  readonly txid: string;
  readonly text: string;
}

interface AddressQuery {
  readonly address: string;
  readonly start: number | null;
  readonly end: number | null;
  readonly verbose: boolean;
}

const QUERY_MEMBERS = new Set(['addresses', 'start', 'end', 'verbosity']);

/** Parses a query for one address; returns null for a query whose treatment only the recording knows. */
function readQuery(param: string | undefined): AddressQuery | null {
  if (!param?.startsWith('{')) return null;
  const members = new Map(readPairs(param));
  if ([...members.keys()].some((key) => !QUERY_MEMBERS.has(key))) return null;
  const addresses = members.get('addresses');
  if (!addresses?.startsWith('[')) return null;
  const [only, ...more] = elementTexts(addresses);
  const address = stringParam(only);
  if (address === null || more.length > 0) return null;
  const height = (key: string) => (/^[1-9]\d{0,8}$/.test(members.get(key) ?? '') ? Number(members.get(key)) : null);
  const [start, end, verbosity] = [height('start'), height('end'), members.get('verbosity') ?? '0'];
  const ranged = members.has('start') || members.has('end');
  if (ranged && (start === null || end === null || end < start)) return null;
  if (verbosity !== '0' && verbosity !== '1') return null;
  return { address, start, end, verbose: verbosity === '1' };
}

function createDeltas({ folder }: Recording): (address: string) => readonly Delta[] | undefined {
  const deltasOf = createTextsByKey(function* () {
    for (const text of elementTexts(readGzip(join(folder, 'truth', 'address.json.gz')))) {
      const row = new Map(readPairs(text));
      const deltas = row.get('getaddressdeltas');
      if (deltas?.startsWith('[')) yield [JSON.parse(row.get('address') ?? '""') as string, deltas];
    }
  });
  return (address) => {
    const deltas = deltasOf(address);
    if (deltas === undefined) return undefined;
    return elementTexts(deltas).map((text) => {
      return { height: Number(rawMember(text, 'height')), txid: rawMember(text, 'txid') ?? '""', text };
    });
  };
}

function balance(deltas: readonly Delta[]): string {
  const sums = { balance: 0n, received: 0n };
  const held = new Map<string, bigint>();
  const got = new Map<string, bigint>();
  const add = (sum: Map<string, bigint>, key: string, amount: bigint) => sum.set(key, (sum.get(key) ?? 0n) + amount);
  const gain = (amount: bigint) => (amount > 0n ? amount : 0n);
  for (const { text } of deltas) {
    const satoshis = BigInt(rawMember(text, 'satoshis') ?? '0');
    sums.balance += satoshis;
    sums.received += gain(satoshis);
    for (const [currency, coins] of readPairs(rawMember(text, 'currencyvalues') ?? '{}')) {
      const amount = coinsToSatoshis(coins);
      add(held, currency, amount);
      add(got, currency, gain(amount));
    }
  }
  const print = (amounts: Map<string, bigint>) =>
    printPairs(
      [...amounts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([currency, amount]) => [currency, satoshisToCoins(amount)]),
    );
  const native: MemberPair[] = [
    ['balance', String(sums.balance)],
    ['received', String(sums.received)],
  ];
  if (held.size === 0) return printPairs(native);
  return printPairs([...native, ['currencybalance', print(held)], ['currencyreceived', print(got)]]);
}

export function createAddressDerivations(recording: Recording): Derivations {
  const deltasOf = createDeltas(recording);

  /** Prints the movements of the address up to the tip; null where the abandoned branch may have had other movements. */
  const derive =
    (print: (deltas: readonly Delta[], query: AddressQuery) => string): Derive =>
    (view: RecordingView, [param, ...rest]) => {
      const query = readQuery(param);
      if (query === null || rest.length > 0 || view.height > view.sharedHeight) return null;
      const deltas = deltasOf(query.address)?.filter(({ height }) => height <= view.height);
      return deltas ? print(deltas, query) : null;
    };

  const inRange = (deltas: readonly Delta[], { start, end }: AddressQuery) =>
    deltas.filter(({ height }) => (start === null || height >= start) && (end === null || height <= end));

  return {
    getaddressbalance: derive(balance),
    getaddressdeltas: derive((deltas, query) => {
      const texts = inRange(deltas, query).map(({ text }) => text);
      const printed = query.verbose ? texts : texts.map((text) => replaceMembers(text, { sent: null }));
      return `[${printed.join(',')}]`;
    }),
    getaddresstxids: derive((deltas, query) => {
      const txids = new Set(inRange(deltas, query).map(({ txid }) => txid));
      return `[${[...txids].join(',')}]`;
    }),
  };
}
