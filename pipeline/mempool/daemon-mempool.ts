/** Reads a daemon's mempool, with a bound on the size of each answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isHash } from '../../domain/hashes.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import { DaemonGarbage } from '../../infra/verusd/daemon-errors.ts';
import { readReply } from '../../infra/verusd/rpc-reply.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';

export type MempoolDaemon = Pick<VerusdClient, 'address' | 'call' | 'callRaw' | 'forward'>;

/** About 240,000 transaction ids. */
const MOST_LIST_BYTES = 16 * 1024 * 1024;
/** A longer transaction is not read: parsing it would block the event loop for a quarter of a second or more. */
const MOST_TEXT = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const AT_ONCE = 4;
const CALL_ID = 1;
/** Pause after parsing, as a multiple of its time: parsing takes at most a fifth of the time. */
const REST = 4;
const SHORT_MS = 2;

/** Returns the ids of all waiting transactions, without duplicates. @throws Daemon… errors */
export async function listMempool(daemon: MempoolDaemon, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { bytes, value } = await daemon.callRaw('getrawmempool', [], { timeoutMs: TIMEOUT_MS, signal });
  if (bytes.byteLength > MOST_LIST_BYTES) {
    throw new DaemonGarbage(`getrawmempool of ${daemon.address}: the list is longer than ${MOST_LIST_BYTES} bytes`);
  }
  if (!Array.isArray(value) || !value.every(isHash)) {
    throw new DaemonGarbage(`getrawmempool of ${daemon.address}: the result is no list of transaction ids`);
  }
  return new Set(value);
}

/** Returns the hash of the newest block. @throws Daemon… errors */
export async function bestBlockHash(daemon: MempoolDaemon, signal: AbortSignal): Promise<string> {
  const hash = await daemon.call('getbestblockhash', [], { timeoutMs: TIMEOUT_MS, signal });
  if (!isHash(hash)) throw new DaemonGarbage(`getbestblockhash of ${daemon.address}: the result is no hash`);
  return hash;
}

/**
 * Returns the daemon's transactions by id; null for a transaction that the daemon does not return, that is too long or that cannot be parsed.
 * @throws Daemon… errors
 */
export async function readTransactions(
  daemon: MempoolDaemon,
  txids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, unknown>> {
  const read = new Map<string, unknown>();
  const queue = [...txids];
  async function work(): Promise<void> {
    for (let txid = queue.shift(); txid !== undefined && !signal.aborted; txid = queue.shift()) {
      const text = await textOf(daemon, txid, signal);
      const started = performance.now();
      read.set(txid, text === null ? null : parsed(text));
      const spent = performance.now() - started;
      if (spent > SHORT_MS) await sleep(spent * REST, undefined, { signal });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return read;
}

/** Returns null for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

/** Uses forward(), which does not parse, so that a text that is too long is never parsed. */
async function textOf(daemon: MempoolDaemon, txid: string, signal: AbortSignal): Promise<string | null> {
  const method = 'getrawtransaction';
  const call = JSON.stringify({ jsonrpc: '1.0', id: CALL_ID, method, params: [txid, 1] });
  const { status, body } = await daemon.forward(call, { label: method, timeoutMs: TIMEOUT_MS, signal });
  if (body.byteLength > MOST_TEXT) return null;
  const reply = readReply(body, CALL_ID);
  if (reply.kind === 'result') return reply.result.toString('utf8');
  if (reply.kind === 'error') return null; // mined or removed since it was listed
  throw new DaemonGarbage(`${method} of ${daemon.address}: HTTP ${status}, ${reply.why}`);
}
