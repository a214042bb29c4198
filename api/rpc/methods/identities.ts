/** Methods about identities. */
import { ALLOWED } from '../../state/measured-rows.ts';
import { noProofAbove, onlyWithReturntx } from '../guards.ts';
import { listOf, members, tree } from '../parameters/containers.ts';
import { address, amount, dataKey, flag, height, identity, integer, payee } from '../parameters/scalars.ts';
import { unlessMempool } from './repeatable.ts';
import { daemon, extension, type RpcMethod } from './rpc-method.ts';

const IDENTITY = '{"name":"name","parent":"id",...}';
/** Only the form that returns a transaction instead of sending it; `position` is that of the flag. */
const unsent = (position: number) => ({ servedWhen: onlyWithReturntx(position) });

/** Parameters: whether a token controls the identity, the fee offered, and the address that pays. */
const FUNDING = [flag, amount, payee];

const BY_AUTHORITY = members({ identityid: identity, fromheight: height, toheight: height, unspent: flag });

/** The daemon's own getidentityhistory, for calls with proof parameters. */
export const identityHistoryOfDaemon = daemon(
  '"name@ || iid" (heightstart) (heightend) (txproofs) (txproofheight)',
  [identity, height, height, flag, height],
  'States of an identity with proofs.',
  { load: 'heavy', namesWallet: true, guards: [noProofAbove(4)] },
);

export const IDENTITY_METHODS: Readonly<Record<string, RpcMethod>> = {
  getidentity: daemon(
    '"name@ || iid" ( height txproof txproofheight )',
    [identity, height, flag, height],
    'An identity, now or at a height; -1 with the mempool.',
    {
      namesWallet: true,
      guards: [noProofAbove(3)],
      repeatable: unlessMempool,
    },
  ),
  getidentitycontent: daemon(
    '"name@ || iid" ( heightstart heightend txproofs txproofheight "vdxfkey" keepdeleted )',
    [identity, height, height, flag, height, dataKey, flag],
    'Content of an identity, gathered over heights.',
    { load: 'heavy', namesWallet: true, guards: [noProofAbove(4)], repeatable: unlessMempool },
  ),
  getidentitieswithaddress: daemon(
    '{"address":"address","fromheight":n,"toheight":n,"unspent":bool}',
    [members({ address, fromheight: height, toheight: height, unspent: flag })],
    'Identities of a key.',
    {
      load: 'heavy',
    },
  ),
  getidentitieswithrecovery: daemon(
    '{"identityid":"id",...}',
    [BY_AUTHORITY],
    'Identities that an identity can recover.',
    {
      load: 'heavy',
    },
  ),
  getidentitieswithrevocation: daemon(
    '{"identityid":"id",...}',
    [BY_AUTHORITY],
    'Identities that an identity can revoke.',
    {
      load: 'heavy',
    },
  ),
  getidentitytrust: daemon('["id",...]', [listOf(identity, 1000)], 'Ratings that the node gives identities.'),
  listidentities: daemon(
    '( includecanspend includecansign includewatchonly )',
    [flag, flag, flag],
    'Identities of the wallet of the node, which is empty.',
    { namesWallet: true },
  ),
  recoveridentity: daemon(
    `${IDENTITY} returntx ( ... )`,
    [tree, flag, ...FUNDING],
    'An unsigned recovery of a revoked identity.',
    unsent(1),
  ),
  registeridentity: daemon(
    '{"txid":"id","namereservation":{},"identity":{}} returntx ( ... )',
    [tree, flag, amount, payee],
    'An unsigned registration of an identity.',
    unsent(1),
  ),
  revokeidentity: daemon(
    '"nameorID" returntx ( ... )',
    [identity, flag, ...FUNDING],
    'An unsigned revocation of an identity.',
    unsent(1),
  ),
  setidentitytimelock: daemon(
    '"id@" {"unlockatblock":n} | {"setunlockdelay":n} returntx ( ... )',
    [identity, members({ unlockatblock: integer, setunlockdelay: integer }), flag, amount, payee],
    'An unsigned change of the time lock of an identity.',
    unsent(2),
  ),
  updateidentity: daemon(
    `${IDENTITY} returntx ( ... )`,
    [tree, flag, ...FUNDING],
    'An unsigned update of an identity.',
    unsent(1),
  ),

  getidentityhistory: extension(
    '"name@ || iid" ( heightstart heightend )',
    `Every state of an identity, in one call at most ${ALLOWED}; with further parameters the answer of the daemon, with proofs.`,
    [identity, integer, integer],
  ),
  getsubidentities: extension(
    '"nameOrId" ( page pageSize )',
    'The identities right below an identity or a chain, oldest registration first.',
  ),
};
