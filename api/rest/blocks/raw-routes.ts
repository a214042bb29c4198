/** The daemon's answers, byte for byte: /api/blocks/:height/raw and /api/tx/:txid/raw. */
import { DaemonRpcError } from '../../../infra/verusd/daemon-errors.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { hashAt } from '../../http/rewound-cursor.ts';
import { liveRoute } from '../../http/route.ts';
import { writtenHash, writtenHeight } from '../../schema/json-schema.ts';
import { tipHeight } from '../../state/tip-height.ts';

const DAEMON_OBJECT = { type: 'object', description: 'As the daemon prints it' } as const;

async function ask(api: ApiContext, chain: string, method: string, params: readonly unknown[], what: string) {
  const daemon = api.daemons.get(chain);
  if (!daemon) throw new ApiError('daemon_error', `no daemon of ${chain} is configured`);
  try {
    return { body: Buffer.from(await daemon.callText(method, params)) };
  } catch (error) {
    if (error instanceof DaemonRpcError && error.rpcCode === RPC_CODES.invalidAddressOrKey) {
      throw notFound(what);
    }
    throw error;
  }
}

const block = liveRoute({
  path: '/api/blocks/:height/raw',
  summary: 'A block with its decoded transactions, as the daemon prints it (getblock 2)',
  parameters: { height: pathParameter('Height of the block', writtenHeight), chain: chainParameter },
  response: DAEMON_OBJECT,
  weight: 5,
  cache: 'none',
  async handler({ params, api }) {
    const { chain, height } = params;
    const hash = await api.snapshot(async (read) => {
      tipHeight(read, chain);
      return hashAt(read, chain, height);
    });
    if (hash === undefined) throw notFound(`block ${height} of ${chain}`);
    // Ask by hash, because the daemon may have switched to another branch.
    return ask(api, chain, 'getblock', [hash, 2], `block ${hash} of ${chain}`);
  },
});

const transaction = liveRoute({
  path: '/api/tx/:txid/raw',
  summary: 'A transaction as the daemon prints it (getrawtransaction 1)',
  parameters: { txid: pathParameter('Transaction id', writtenHash), chain: chainParameter },
  response: DAEMON_OBJECT,
  weight: 5,
  cache: 'none',
  handler({ params, api }) {
    const { chain } = params;
    const txid = params.txid.toLowerCase();
    return ask(api, chain, 'getrawtransaction', [txid, 1], `transaction ${txid} of ${chain}`);
  },
});

export const rawRoutes = [block, transaction];
