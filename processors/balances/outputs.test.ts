import { describe, expect, test } from 'vitest';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import type { OutputFact } from '../../schemas/facts.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;
type Coins = Readonly<Record<string, ExactNumber>>;

interface PrintedUtxo {
  readonly txid: string;
  readonly outputIndex: number;
  readonly satoshis: ExactNumber;
  readonly height: number;
  readonly currencyvalues?: Coins;
}

describe('recorded', () => {
  const { all, derived, state } = foldRecording();
  const unspent = new Map<string, OutputFact & { readonly height: number }>();
  for (const made of all('output')) if (made.height > 0) unspent.set(`${made.txid}:${made.n}`, made);
  for (const { txid, n } of all('spend')) expect(unspent.delete(`${txid}:${n}`)).toBe(true);
  const supply = recordedTruth<{
    gettxoutsetinfo: { txouts: number; transactions: number; total_amount: ExactNumber };
    reservedeposits: Record<string, Coins>;
    currencies: Record<string, { currencyid: string }>;
  }>('truth/supply.json');

  test('coins, outputs and transactions of the unspent outputs are the daemon’s', () => {
    const { total_amount, txouts, transactions } = supply.gettxoutsetinfo;
    expect([...unspent.values()].reduce((sum, { value }) => sum + value, 0n)).toBe(coinsToSatoshis(total_amount));
    // Data outputs can never be spent, so the daemon drops them.
    const spendable = [...unspent.values()].filter(({ kind }) => kind !== 'nulldata');
    expect(spendable).toHaveLength(txouts);
    expect(new Set(spendable.map(({ txid }) => txid)).size).toBe(transactions);
  });

  test('the state has exactly the unspent outputs', () => {
    for (const { txid, n, height } of all('output')) {
      expect(state.output(txid, n) !== undefined, `${txid}:${n}`).toBe(height === 0 || unspent.has(`${txid}:${n}`));
    }
  });

  test('unspent outputs of every recorded address', () => {
    const known = recordedTruth<{ address: string; getaddressutxos: PrintedUtxo[] }[]>('truth/address.json.gz');
    for (const { address, getaddressutxos } of known) {
      const want = getaddressutxos.map(({ txid, outputIndex, satoshis, height, currencyvalues }) => {
        const tokens = Object.entries(currencyvalues ?? {}).filter(
          ([id, coins]) => id !== NATIVE && coinsToSatoshis(coins) > 0n,
        );
        const currencies = Object.fromEntries(tokens.map(([id, coins]) => [id, coinsToSatoshis(coins)]));
        return { txid, n: outputIndex, value: BigInt(String(satoshis)), height, currencies };
      });
      const got = [...unspent.values()].filter(({ addresses }) => addresses.includes(address));
      const key = ({ txid, n }: { txid: string; n: number }) => `${txid}:${n}`;
      expect(
        new Map(
          got.map(({ txid, n, value, height, currencies }) => [
            key({ txid, n }),
            { txid, n, value, height, currencies },
          ]),
        ),
        address,
      ).toEqual(new Map(want.map((row) => [key(row), row])));
    }
  });

  test('reserve deposits of every currency', () => {
    const held = new Map<string, Map<string, bigint>>();
    for (const { kind, data, value, currencies } of unspent.values()) {
      if (kind !== 'reservedeposit') continue;
      const { controllingcurrencyid } = JSON.parse(data ?? '{}') as { controllingcurrencyid: string };
      const deposits = held.get(controllingcurrencyid) ?? new Map<string, bigint>();
      for (const [id, amount] of [[NATIVE, value] as const, ...Object.entries(currencies)]) {
        if (amount > 0n) deposits.set(id, (deposits.get(id) ?? 0n) + amount);
      }
      held.set(controllingcurrencyid, deposits);
    }
    for (const [name, deposits] of Object.entries(supply.reservedeposits)) {
      const { currencyid = '' } = supply.currencies[name] ?? {};
      const want = Object.entries(deposits).map(([id, coins]) => [id, coinsToSatoshis(coins)] as const);
      expect(held.get(currencyid) ?? new Map(), name).toEqual(new Map(want));
    }
  });

  test('each spend names the same input as the daemon', () => {
    const spends = new Map(all('spend').map((spend) => [`${spend.txid}:${spend.n}`, spend]));
    const tip = derived.length - 1;
    for (const { block } of derived) {
      for (const tx of block.tx) {
        for (const made of tx.vout as readonly {
          n: number;
          spentTxId?: string;
          spentIndex?: number;
          spentHeight?: number;
        }[]) {
          const spend = spends.get(`${tx.txid}:${made.n}`);
          const isMined = (made.spentHeight ?? -1) >= 0 && (made.spentHeight ?? -1) <= tip;
          expect([spend?.spentTxid, spend?.spentIndex, spend?.height]).toEqual(
            isMined ? [made.spentTxId, made.spentIndex, made.spentHeight] : [undefined, undefined, undefined],
          );
        }
      }
    }
  });
});
