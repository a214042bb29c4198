/** Coins and tokens of a chain, block by block: nothing is spent twice, nothing appears, nothing is lost. */
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { DaemonBlock, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { type HeldOutput, heldOutput } from './held-values.ts';
import { isObject, type ReportFault } from './shape.ts';

export interface CoinLedger {
  /** Books the block's transactions. */
  book(block: DaemonBlock, fault: ReportFault): void;
  /** Σ unspent outputs of a currency other than the native one. */
  unspent(currencyId: string): bigint;
  /** Σ unspent deposits of a currency's reserves in one currency. */
  deposited(currencyId: string, reserveId: string): bigint;
}

export interface LedgerOptions {
  readonly native: string;
  /** The new coins in a block's coinbase; null when they are not known. */
  readonly subsidy: (height: number) => bigint | null;
}

export function createLedger({ native, subsidy }: LedgerOptions): CoinLedger {
  const outputs = new Map<string, HeldOutput>();
  const transactions = new Set<string>();
  const unspent = new Map<string, bigint>();
  const deposits = new Map<string, bigint>();
  let pool = 0n;

  const add = (sums: Map<string, bigint>, key: string, amount: bigint): void => {
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  };

  function move({ value, tokens, depositOf }: HeldOutput, sign: bigint): void {
    for (const [id, amount] of tokens) add(unspent, id, sign * amount);
    if (depositOf === null) return;
    if (value > 0n) add(deposits, `${depositOf} ${native}`, sign * value);
    for (const [id, amount] of tokens) add(deposits, `${depositOf} ${id}`, sign * amount);
  }

  /** Books a transaction, and returns its native inputs minus its outputs. */
  function bookTransaction(tx: DaemonTransaction, path: string, fault: ReportFault): bigint {
    if (transactions.has(tx.txid)) fault(path, `transaction ${tx.txid} stands twice in the chain`);
    transactions.add(tx.txid);
    let left = tx.valueBalance === undefined ? 0n : coinsToSatoshis(tx.valueBalance);
    const tokens = new Map<string, bigint>();
    for (const [index, input] of tx.vin.entries()) {
      if (input.coinbase !== undefined) continue;
      const key = `${input.txid}:${input.vout}`;
      const spent = outputs.get(key);
      if (!spent) {
        fault(`${path}.vin[${index}]`, `spends ${key}, which is no unspent output`);
        continue;
      }
      const shown = (input as { readonly valueSat?: unknown }).valueSat;
      if (shown !== undefined && BigInt(String(shown)) !== spent.value)
        fault(`${path}.vin[${index}]`, 'shows another value');
      outputs.delete(key);
      move(spent, -1n);
      left += spent.value;
      for (const [id, amount] of spent.tokens) add(tokens, id, amount);
    }
    for (const [index, output] of tx.vout.entries()) {
      const held = heldOutput(output, native);
      if (output.n !== index) fault(`${path}.vout[${index}]`, `says that it is output ${output.n}`);
      if (coinsToSatoshis(output.value) !== held.value) fault(`${path}.vout[${index}]`, 'value and valueSat differ');
      outputs.set(`${tx.txid}:${index}`, held);
      move(held, 1n);
      left -= held.value;
      for (const [id, amount] of held.tokens) add(tokens, id, -amount);
    }
    for (const [id, amount] of makesTokens(tx) ? [] : tokens) {
      if (amount !== burnedByExports(tx, id)) fault(path, `${amount} satoshis of ${id} come to nothing`);
    }
    return left;
  }

  return {
    book(block, fault) {
      let fees = 0n;
      for (const [index, tx] of block.tx.entries()) {
        const path = `block ${block.height} tx[${index}]`;
        const isCoinbase = tx.vin[0]?.coinbase !== undefined;
        if (isCoinbase !== (index === 0)) fault(path, 'a coinbase stands first, and alone');
        if (isCoinbase) continue;
        const fee = bookTransaction(tx, path, fault);
        if (fee < 0n) fault(path, `pays ${-fee} satoshis more than it has`);
        fees += fee;
      }
      const [coinbase] = block.tx;
      if (!coinbase) return fault(`block ${block.height}`, 'has no coinbase');
      const made = -bookTransaction(coinbase, `block ${block.height} tx[0]`, fault);
      const after = feePool(coinbase, native) ?? pool;
      const due = subsidy(block.height);
      if (due !== null && made !== due + fees + pool - after) {
        fault(`block ${block.height}`, `its coinbase makes ${made}, due are ${due + fees + pool - after}`);
      }
      pool = after;
    },
    unspent: (currencyId) => unspent.get(currencyId) ?? 0n,
    deposited: (currencyId, reserveId) => deposits.get(`${currencyId} ${reserveId}`) ?? 0n,
  };
}

/** Only imports, and the coinbase of a chain that is launched with tokens, make and destroy tokens. */
function makesTokens(tx: DaemonTransaction): boolean {
  return tx.vin[0]?.coinbase !== undefined || tx.vout.some(({ scriptPubKey }) => 'crosschainimport' in scriptPubKey);
}

/** Tokens that return to their issuing chain are destroyed on this one. */
function burnedByExports(tx: DaemonTransaction, currencyId: string): bigint {
  let burned = 0n;
  for (const { scriptPubKey } of tx.vout) {
    const exported = scriptPubKey.crosschainexport;
    if (!isObject(exported) || !isObject(exported.totalburned)) continue;
    burned += coinsToSatoshis((exported.totalburned[currencyId] as string | undefined) ?? '0');
  }
  return burned;
}

function feePool(coinbase: DaemonTransaction, native: string): bigint | null {
  for (const { scriptPubKey } of coinbase.vout) {
    const pool = scriptPubKey.feepool;
    if (!isObject(pool) || !isObject(pool.currencyvalues)) continue;
    return coinsToSatoshis((pool.currencyvalues[native] as string | undefined) ?? '0');
  }
  return null;
}
