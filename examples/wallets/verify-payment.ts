/**
 * Checks whether an address was paid. Each run counts all outputs that only this address can spend, from the chain, so reorganisations need
 * no bookkeeping. Exit code 0: paid; 1: not yet paid, or an error that stderr explains.
 *
 *   node examples/wallets/verify-payment.ts SERVICE ADDRESS CURRENCY_ID AMOUNT SINCE_HEIGHT [CONFIRMATIONS]
 */
import { connect, readArguments, toCoins, toSatoshis, wholeNumber } from './rpc.ts';

interface Delta {
  readonly txid: string;
  /** Index of the output, or of the input when `spending`. */
  readonly index: number;
  readonly height: number;
  readonly spending: boolean;
  readonly address: string;
  /** Coins by currency, including the chain's own; absent when no coins move. */
  readonly currencyvalues?: Readonly<Record<string, unknown>>;
}

interface Transaction {
  readonly height?: number;
  readonly vout: readonly {
    readonly n: number;
    readonly scriptPubKey: { readonly spendableoutput?: boolean; readonly addresses?: readonly string[] };
  }[];
}

interface Tip {
  readonly blocks: number;
  readonly bestblockhash: string;
}

const [service, address, currencyId, amount, since, confirmations = '10'] = readArguments(
  'SERVICE',
  'ADDRESS',
  'CURRENCY_ID',
  'AMOUNT',
  'SINCE_HEIGHT',
  '[CONFIRMATIONS]',
);
const rpc = connect(service);
const asked = toSatoshis(amount);
if (asked <= 0n) throw new Error('AMOUNT must be above zero');
const start = Math.max(1, wholeNumber(since, 'SINCE_HEIGHT'));
const enough = wholeNumber(confirmations, 'CONFIRMATIONS');
if (!/^i\w{33}$/.test(currencyId)) throw new Error('CURRENCY_ID must be an i-address: names can be taken by others');
const value = ({ currencyvalues }: Delta) => toSatoshis(currencyvalues?.[currencyId] ?? 0);
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

/** Whether only the address can spend the output. Outputs that name several addresses are listed too, but others can take them back. */
async function isOwn(delta: Delta): Promise<boolean> {
  const transaction = await rpc<Transaction>('getrawtransaction', delta.txid, 1);
  const script = transaction.vout.find(({ n }) => n === delta.index)?.scriptPubKey;
  const isAlone = script?.addresses?.length === 1 && script.addresses[0] === delta.address;
  return transaction.height === delta.height && script?.spendableoutput === true && isAlone;
}

async function count(tip: Tip): Promise<{ readonly paid: bigint; readonly young: bigint; readonly lines: string[] }> {
  const query = { addresses: [address], start, end: Math.max(start, tip.blocks) };
  const deltas = await rpc<Delta[]>('getaddressdeltas', query);
  const totals = { paid: 0n, young: 0n, lines: [] as string[] };
  for (const [txid, moved] of Map.groupBy(deltas, (delta) => delta.txid)) {
    // Coins that the transaction takes from the address are subtracted, because change is not a payment.
    let counted = sum(moved.filter(({ spending }) => spending).map(value));
    for (const delta of moved) {
      if (delta.spending || value(delta) === 0n) continue;
      if (await isOwn(delta)) counted += value(delta);
      else totals.lines.push(`${txid}:${delta.index} is not counted: others can spend it too, or it has just moved`);
    }
    if (counted <= 0n) continue;
    const height = moved[0]?.height ?? 0;
    const depth = tip.blocks - height + 1;
    if (depth >= enough) totals.paid += counted;
    else totals.young += counted;
    totals.lines.push(`${txid} pays ${toCoins(counted)} in block ${height}, ${depth} confirmations`);
  }
  return totals;
}

const tipNow = () => rpc<Tip>('getblockchaininfo');
let tip = await tipNow();
let totals = await count(tip);
// If the tip changed while counting, the count may mix two states of the chain.
for (let again = await tipNow(); again.bestblockhash !== tip.bestblockhash; again = await tipNow()) {
  tip = again;
  totals = await count(tip);
}
for (const line of totals.lines) console.log(line);
const isPaid = totals.paid >= asked;
const waiting = totals.young > 0n ? `, ${toCoins(totals.young)} with fewer than ${enough} confirmations` : '';
console.log(`${isPaid ? 'paid' : 'not paid'}: ${toCoins(totals.paid)} of ${toCoins(asked)}${waiting}`);
process.exitCode = isPaid ? 0 : 1;
