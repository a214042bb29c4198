/**
 * JSON-RPC of the service in its own process, without limits. Argument: URL of the daemon. The chain `kept` knows its tip and caches
 * answers; the chain `proxied` knows no tip and forwards every call.
 */

import { App, us_socket_local_port } from 'uWebSockets.js';
import { pino } from 'pino';
import { SERVICE } from '../../api/access/priority-lanes.ts';
import { createBufferedBodies } from '../../api/http/buffered-bodies.ts';
import { framedRoutes } from '../../api/http/framed-routes.ts';
import { NO_LINES } from '../../api/http/header-lines.ts';
import { createUnsentAnswers } from '../../api/http/unsent-answers.ts';
import { createRpcHandler } from '../../api/rpc/rpc-handler.ts';
import { type RpcRoutesOptions, registerRpc } from '../../api/rpc/rpc-routes.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';

const logger = pino({ level: 'silent' });
const chains = ['proxied', 'kept'].map((name) => ({
  name,
  rootCurrency: 'VRSCTEST',
  networkRoot: 'VRSCTEST',
  finalityDepth: 100,
  blockSeconds: 60,
  requireEmptyWallet: false,
}));
const daemons = new Map(
  chains.map(({ name }) => [name, createVerusdClient({ rpc: process.argv[2] ?? '', chain: name, logger })]),
);
const handler = createRpcHandler({
  chains,
  daemons,
  postgres: {} as Postgres, // no measured method uses the index
  tip: (chain) => (chain === 'kept' ? { height: 1551, hash: 'the recorded tip' } : null),
  nameToAddress: () => null,
  logger,
});
const admission = { refusal: null, headers: NO_LINES, caller: { ...SERVICE, key: null }, charged: { giveBack() {} } };
const entrance = { refused: null, settleNow: () => admission, giveBack() {} };
const access = { readVisitor: () => ({ network: 'all' }), gate: { rpcNow: () => entrance } };
const app = App();
registerRpc(framedRoutes(app), handler, {
  api: { logger },
  bodies: createBufferedBodies({ mostOfNetwork: Number.POSITIVE_INFINITY }),
  unsent: createUnsentAnswers(),
  config: { chains } as unknown as RpcRoutesOptions['config'],
  underWay: { count: 0, sending: 0 },
  access: access as unknown as RpcRoutesOptions['access'],
});
app.listen('127.0.0.1', 0, (socket) => {
  if (socket) process.send?.(`http://127.0.0.1:${us_socket_local_port(socket)}/`);
});
