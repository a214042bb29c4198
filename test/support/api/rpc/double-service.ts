/** The JSON-RPC handler over a daemon double that records its requests. */
import { pino } from 'pino';
import { createRpcHandler, type RpcAnswer, type RpcHandlerOptions } from '../../../../api/rpc/rpc-handler.ts';
import type { Wallets } from '../../../../api/rpc/wallet-guard.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';

export const CHAIN = 'vrsc';

/** Answers of the double and the index; `rows` depends on the statement and is empty by default. */
export interface DoubleOptions extends Partial<Pick<RpcHandlerOptions, 'tip' | 'nameToAddress' | 'daemonHeight'>> {
  /** The daemon's reply to every call, sent once `ready` resolves, or at once. */
  readonly reply: string;
  readonly ready?: Promise<void>;
  /** Hash of the daemon's newest block. */
  readonly best?: string;
  readonly nativeCurrencyId: string;
  readonly requireEmptyWallet?: boolean;
  readonly wallets?: Wallets | undefined;
  readonly rows?: (sql: string, values: readonly (string | undefined)[]) => readonly object[];
}

export interface DoubleService {
  /** Bodies that the daemon received, in order. */
  readonly received: string[];
  post(body: Uint8Array): Promise<RpcAnswer>;
}

export function createDoubleService({
  reply,
  ready,
  best = '',
  rows = () => [],
  ...options
}: DoubleOptions): DoubleService {
  const received: string[] = [];
  const {
    nativeCurrencyId,
    requireEmptyWallet = false,
    wallets,
    tip = () => null,
    nameToAddress = () => null,
    daemonHeight = () => null,
  } = options;
  const chain = {
    name: CHAIN,
    rootCurrency: 'VRSCTEST',
    networkRoot: 'VRSCTEST',
    finalityDepth: 100,
    blockSeconds: 60,
    requireEmptyWallet,
  };
  const daemon = {
    async forward(body: string | Uint8Array) {
      received.push(Buffer.from(body).toString());
      await ready;
      return { status: 200, body: Buffer.from(reply) };
    },
    call: async (method: string) => (method === 'getbestblockhash' ? best : { chainid: nativeCurrencyId }),
  };
  const handler = createRpcHandler({
    chains: [chain],
    daemons: new Map([[CHAIN, daemon]]),
    ...(wallets && { wallets: new Map([[CHAIN, wallets]]) }),
    postgres: {
      pool: {
        query: async (sql: string, values: readonly (string | undefined)[] = []) => ({ rows: rows(sql, values) }),
      },
    } as unknown as Postgres,
    tip,
    nameToAddress,
    daemonHeight,
    logger: pino({ level: 'silent' }),
  });
  return { received, post: (body) => handler(CHAIN, body) };
}
