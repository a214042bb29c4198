/** Reads the daemon's best chain for the tailer. Returns null for anything that the daemon does not have; it may have moved meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRef } from '../../domain/block-ref.ts';
import { nameToAddress } from '../../domain/names.ts';
import { DaemonGarbage, DaemonHttpError, DaemonRpcError, DaemonUnreachable } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import { type BackoffLimits, backoffMs } from '../stage/backoff.ts';
import { type FetchedBlock, READ_MEMBERS, readFetchedBlock } from './fetched-block.ts';
import { WrongChain } from './tailer-errors.ts';

export interface DaemonChain {
  bestHash(): Promise<string>;
  /** @throws WrongChain when the daemon serves another currency than configured */
  tip(): Promise<BlockRef>;
  hashAt(height: number): Promise<string | null>;
  block(height: number, signal: AbortSignal): Promise<FetchedBlock | null>;
  /** Reads `count` blocks from `height` on, in one call if that succeeds. */
  blocks(height: number, count: number, signal: AbortSignal): Promise<readonly (FetchedBlock | null)[]>;
  /** Also returns null for a block that is not on the best branch. */
  blockOf(hash: string): Promise<FetchedBlock | null>;
}

export interface DaemonChainOptions {
  readonly chain: ChainConfig;
  readonly client: VerusdClient;
  readonly signal: AbortSignal;
  readonly retry: BackoffLimits;
  /** Time limit of a call for blocks. */
  readonly blockTimeoutMs: number;
  /** Time limit of every other call. */
  readonly callTimeoutMs: number;
}

/** Attempts for one call, to get over a lost reply; the caller reports and waits out persistent failures. */
const ATTEMPTS = 4;
const NOT_FOUND = new Set<number>([RPC_CODES.invalidAddressOrKey, RPC_CODES.invalidParameter]);

export function createDaemonChain(options: DaemonChainOptions): DaemonChain {
  const { chain, client, signal, retry, blockTimeoutMs, callTimeoutMs } = options;

  /** Returns null when the daemon does not have the requested block. */
  async function ask<T>(question: () => Promise<T>, until: AbortSignal): Promise<T | null> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await question();
      } catch (error) {
        if (error instanceof DaemonRpcError && NOT_FOUND.has(error.rpcCode)) return null;
        if (until.aborted || !isHiccup(error) || attempt + 1 === ATTEMPTS) throw error;
        await sleep(backoffMs(attempt, retry), undefined, { signal: until });
      }
    }
  }

  const call = (method: string, params: readonly unknown[] = []): Promise<unknown> =>
    ask(() => client.call(method, params, { signal, timeoutMs: callTimeoutMs }), signal);

  const verboseBlock = (heightOrHash: string, until: AbortSignal) =>
    client.callRaw('getblock', [heightOrHash, 2], { signal: until, timeoutMs: blockTimeoutMs });

  const block = (height: number, until: AbortSignal) =>
    ask(async () => readFetchedBlock(await verboseBlock(String(height), until), height), until);

  return {
    bestHash: async () => text(await call('getbestblockhash'), 'getbestblockhash'),
    async tip() {
      const info = await call('getblockchaininfo');
      const { name, chainid, blocks, bestblockhash } = (info ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof blocks !== 'number') throw new DaemonGarbage('getblockchaininfo returned no height');
      const names = [name, chainid].map((served) => (typeof served === 'string' ? served : 'no name'));
      if (!names.some((served) => served.toLowerCase() === chain.rootCurrency.toLowerCase())) {
        throw new WrongChain(
          `The daemon at ${client.address} serves ${names[0]} (${names[1]}), but chain ${chain.name} is configured with ` +
            `rootCurrency ${chain.rootCurrency}. Nothing was written. Correct the daemon address or rootCurrency of ${chain.name}.`,
        );
      }
      const expected = nameToAddress(chain.rootCurrency, chain.networkRoot);
      if (typeof chainid === 'string' && chainid !== expected) {
        throw new WrongChain(
          `The daemon at ${client.address} serves ${String(chainid)}, but ${chain.rootCurrency} below networkRoot ` +
            `${chain.networkRoot} is ${expected}. Nothing was written. Correct networkRoot of ${chain.name}.`,
        );
      }
      return { height: blocks, hash: text(bestblockhash, 'getblockchaininfo.bestblockhash') };
    },
    async hashAt(height) {
      const hash = await call('getblockhash', [height]);
      return hash === null ? null : text(hash, 'getblockhash');
    },
    block,
    async blocks(height, count, until) {
      const heights = Array.from({ length: count }, (_, index) => height + index);
      if (count === 1) return [await block(height, until)];
      try {
        const params = heights.map((at) => [String(at), 2]);
        const limits = { signal: until, timeoutMs: blockTimeoutMs };
        const found = await client.callRawBatch('getblock', params, READ_MEMBERS, limits);
        return found.map((raw, index) => raw && readFetchedBlock(raw, height + index));
      } catch (error) {
        if (until.aborted || !(error instanceof VerustreamError)) throw error;
        // The reply may be too large or lost, or a proxy may not accept batches: single calls succeed or show the reason.
        const one: (FetchedBlock | null)[] = [];
        for (const at of heights) one.push(await block(at, until));
        return one;
      }
    },
    blockOf: (hash) =>
      ask(async () => {
        const raw = await verboseBlock(hash, signal);
        const { confirmations } = (raw.value ?? {}) as { readonly confirmations?: unknown };
        return confirmations === -1 ? null : readFetchedBlock(raw, hash);
      }, signal),
  };
}

/** Whether an immediate retry may help. A timeout has already waited; refused credentials and warm-up do not pass within a second. */
function isHiccup(error: unknown): boolean {
  return [DaemonUnreachable, DaemonGarbage, DaemonHttpError, DaemonRpcError].some((kind) => error instanceof kind);
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new DaemonGarbage(`${what} is not a string: ${JSON.stringify(value)}`);
  return value;
}
