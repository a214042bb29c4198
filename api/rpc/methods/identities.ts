/** Identities. */
import { onlyWithReturntx } from '../guards.ts';
import { unlessMempool } from './repeatable.ts';
import { daemon, extension, type RpcMethod } from './rpc-method.ts';

const IDENTITY = '{"name":"name","parent":"id",...}';
/** Its form that returns a transaction instead of sending it; the number is the position of that flag. */
const unsent = (position: number) => ({ guards: [onlyWithReturntx(position)] });

/** The daemon's own form of it, for calls with parameters of proofs. */
export const identityHistoryOfDaemon = daemon(
  '"name@ || iid" (heightstart) (heightend) (txproofs) (txproofheight)',
  'States of an identity with proofs.',
  { load: 'heavy', namesWallet: true },
);

export const IDENTITY_METHODS: Readonly<Record<string, RpcMethod>> = {
  getidentity: daemon(
    '"name@ || iid" ( height txproof txproofheight )',
    'An identity, now or at a height; -1 with the mempool.',
    {
      namesWallet: true,
      repeatable: unlessMempool,
    },
  ),
  getidentitycontent: daemon(
    '"name@ || iid" ( heightstart heightend txproofs txproofheight "vdxfkey" keepdeleted )',
    'Content of an identity, gathered over heights.',
    { load: 'heavy', namesWallet: true, repeatable: unlessMempool },
  ),
  getidentitieswithaddress: daemon(
    '{"address":"address","fromheight":n,"toheight":n,"unspent":bool}',
    'Identities of a key.',
    {
      load: 'heavy',
    },
  ),
  getidentitieswithrecovery: daemon('{"identityid":"id",...}', 'Identities that an identity can recover.', {
    load: 'heavy',
  }),
  getidentitieswithrevocation: daemon('{"identityid":"id",...}', 'Identities that an identity can revoke.', {
    load: 'heavy',
  }),
  getidentitytrust: daemon('["id",...]', 'Ratings that the node gives identities.'),
  listidentities: daemon(
    '( includecanspend includecansign includewatchonly )',
    'Identities of the wallet of the node, which is empty.',
    { namesWallet: true },
  ),
  recoveridentity: daemon(`${IDENTITY} returntx ( ... )`, 'An unsigned recovery of a revoked identity.', unsent(1)),
  registeridentity: daemon(
    '{"txid":"id","namereservation":{},"identity":{}} returntx ( ... )',
    'An unsigned registration of an identity.',
    unsent(1),
  ),
  revokeidentity: daemon('"nameorID" returntx ( ... )', 'An unsigned revocation of an identity.', unsent(1)),
  setidentitytimelock: daemon(
    '"id@" {"unlockatblock":n} | {"setunlockdelay":n} returntx ( ... )',
    'An unsigned change of the time lock of an identity.',
    unsent(2),
  ),
  updateidentity: daemon(`${IDENTITY} returntx ( ... )`, 'An unsigned update of an identity.', unsent(1)),

  getidentityhistory: extension(
    '"name@ || iid" ( heightstart heightend )',
    'Every state of an identity; with further parameters the answer of the daemon, with proofs.',
  ),
  getsubidentities: extension(
    '"nameOrId" ( page pageSize )',
    'The identities right below an identity or a chain, oldest registration first.',
  ),
};
