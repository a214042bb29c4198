/**
 * Follows the newest update of an identity, or a given transaction, from the mempool to enough confirmations, through reorganisations.
 * Prints a line for each change. Exit code 0: confirmed; 1: it can never be confirmed.
 *
 *   node examples/wallets/watch-identity.ts SERVICE NAME@ [CONFIRMATIONS] [TXID]      POLL_SECONDS: polling interval, 15
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, passes, RpcError, readArguments, wholeNumber } from './rpc.ts';

interface Identity {
  readonly txid: string;
}

interface Transaction {
  readonly expiryheight: number;
  /** Absent in the mempool; -1 when only an abandoned branch contains the transaction. */
  readonly height?: number;
  readonly confirmations?: number;
}

const NOT_FOUND = -5;
const [service, identity, confirmations = '10', given] = readArguments('SERVICE', 'NAME@', '[CONFIRMATIONS]', '[TXID]');
const rpc = connect(service);
const enough = wholeNumber(confirmations, 'CONFIRMATIONS');
const pollMs = 1000 * Number(process.env.POLL_SECONDS ?? '15');

/** Returns null when the transaction is neither in a block nor in the mempool. */
async function find(id: string): Promise<Transaction | null> {
  try {
    return await rpc<Transaction>('getrawtransaction', id, 1);
  } catch (error) {
    if (error instanceof RpcError && error.code === NOT_FOUND) return null;
    throw error;
  }
}

let told = '';
function tell(line: string): void {
  if (line !== told) console.log(line);
  told = line;
}

// Height -1 includes the mempool.
const txid = given ?? (await rpc<Identity>('getidentity', identity, -1)).txid;
let expiry = Number.POSITIVE_INFINITY;
let wasConfirmed = false;

/** Returns whether the transaction has enough confirmations, or null when it can never be confirmed. */
async function look(): Promise<boolean | null> {
  const transaction = await find(txid);
  const depth = transaction?.confirmations ?? 0;
  if (transaction?.expiryheight) expiry = transaction.expiryheight;
  if (wasConfirmed && depth === 0) tell('taken back by a reorganisation');
  wasConfirmed = depth > 0;
  if (transaction && depth > 0) tell(`${txid} has ${depth} confirmations, in block ${transaction.height}`);
  else if (transaction && transaction.height === undefined) tell(`${txid} is pending`);
  else {
    // After a reorganisation a transaction returns to the mempool, until it expires.
    const { blocks } = await rpc<{ blocks: number }>('getblockchaininfo');
    if (blocks >= expiry) return null;
    tell(`${txid} is neither pending nor confirmed`);
  }
  return depth >= enough;
}

for (let isDone: boolean | null = false; !isDone; ) {
  try {
    isDone = await look();
  } catch (error) {
    if (!passes(error)) throw error;
    console.error(String(error));
  }
  if (isDone === null) {
    tell(`${txid} expired at block ${expiry}: build, check and sign it anew`);
    process.exit(1);
  }
  if (!isDone) await sleep(pollMs);
}
const newest = (await rpc<Identity>('getidentity', identity)).txid;
console.log(newest === txid ? 'confirmed: the state of the identity' : `confirmed, and replaced since by ${newest}`);
