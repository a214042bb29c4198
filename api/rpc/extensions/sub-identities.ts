/** getsubidentities: the identities directly below an identity or currency. */

import { columns, rowReader } from '../../../infra/row-reader.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { countChildren, readChildren } from '../../rest/identities/identity-rows.ts';
import { possibleAddresses } from '../../state/identity-names.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { RpcError } from '../rpc-error.ts';
import { pageWindowOf, readArguments, type Signature, textOf } from './arguments.ts';
import type { Extension, ExtensionCall } from './extension.ts';

const SIGNATURE: Signature = {
  method: 'getsubidentities',
  positions: ['nameOrId', 'page', 'pageSize'],
  required: 1,
};

const NAME_SQL = `SELECT fully_qualified_name AS name FROM identities
  WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL`;

const readName = rowReader({ name: columns.text });

export const subIdentities: Extension = async ({ api, chain, read, texts }) => {
  const given = readArguments(texts, SIGNATURE);
  const asked = textOf(given.get('nameOrId'));
  const place = pageWindowOf(given);
  tipHeight(read, chain.name);
  const found = await findParent({ api, chain, read }, asked);
  if (!found) throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Identity not found');
  const { parentId, name, count } = found;
  const currencies = await api.currencies.of(read);
  const children = await readChildren(read, chain.name, parentId, place);
  return {
    parent: name ?? currencies.name(parentId),
    parentId,
    count,
    identities: children.map((child) => ({
      identityAddress: child.identity_address,
      name: child.name,
      fullyQualifiedName: child.fully_qualified_name,
      height: child.from_height,
      txid: child.txid,
      flags: child.flags,
    })),
  };
};

/** A parent need not be an identity of this chain: the chain's own currency is not one, and neither is a bridged parent. */
async function findParent({ api, chain, read }: Omit<ExtensionCall, 'texts'>, asked: string) {
  for (const parentId of possibleAddresses(chain, asked)) {
    const identity = await read.row(readName, NAME_SQL, [chain.name, parentId]);
    const count = await countChildren(read, api, chain.name, parentId);
    if (identity || count > 0) return { parentId, name: identity?.name, count };
  }
  return null;
}
