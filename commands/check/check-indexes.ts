/** Detects the indexes of a daemon. No method lists them, so each is detected by an answer that needs the index. */
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import { type Finding, findingsOf } from './finding.ts';

/** A block this far below the tip is rarely replaced during the check. */
const BELOW_TIP = 10;
/** Enough to find an input: about every second block spends a transparent output, as its stake. */
const BLOCKS_LOOKED_AT = 30;
const REINDEX = 'and start the daemon once with -reindex, which takes as long as its first sync';

/** Members of `getblock … 2` that are read here. */
interface Block {
  readonly height: number;
  readonly tx: readonly {
    readonly txid: string;
    readonly vin: readonly { readonly txid?: string; readonly valueSat?: unknown }[];
    readonly vout: readonly { readonly scriptPubKey: { readonly addresses?: readonly string[] } }[];
  }[];
}

/** @throws the client's Daemon… error when a block cannot be read */
export async function checkIndexes(client: VerusdClient, tip: number, subject: string): Promise<readonly Finding[]> {
  const { note } = findingsOf(subject);
  const first = Math.max(1, tip - BELOW_TIP);
  if (tip < 1) return [note('no block to test its indexes with')];
  const block = await blockAt(client, first);
  return [
    await addressIndex(client, block, subject),
    await spentIndex(client, block, subject),
    await identityIndex(client, block, subject),
  ];
}

async function blockAt(client: VerusdClient, height: number): Promise<Block> {
  return (await client.call('getblock', [String(height), 2])) as Block;
}

/** The address index must list the block's first transaction for the address of its reward. */
async function addressIndex(client: VerusdClient, block: Block, subject: string): Promise<Finding> {
  const { right, note, wrong } = findingsOf(subject);
  const [reward] = block.tx;
  const address = rewardAddress(block);
  if (!reward || !address) return note(`no transparent reward in block ${block.height} to test its address index with`);
  const range = { addresses: [address], start: block.height, end: block.height };
  const txids = await client.call('getaddresstxids', [range]).catch(refusal);
  // A daemon without an address index returns this error for every address.
  if (txids instanceof DaemonRpcError && txids.rpcCode !== RPC_CODES.invalidAddressOrKey) {
    return note(`its address index could not be tested: it says "${txids.rpcMessage}"`);
  }
  if (Array.isArray(txids) && txids.includes(reward.txid)) return right('its address index answers');
  return wrong('its address index does not answer', `take addressindex=0 out of its configuration, ${REINDEX}`);
}

/** A daemon reports the value of an input only with the spent index. */
async function spentIndex(client: VerusdClient, newest: Block, subject: string): Promise<Finding> {
  const { right, note, wrong } = findingsOf(subject);
  const lowest = Math.max(1, newest.height - BLOCKS_LOOKED_AT);
  for (let block = newest; ; block = await blockAt(client, block.height - 1)) {
    const input = block.tx.flatMap(({ vin }) => vin).find(({ txid }) => txid !== undefined);
    if (input && input.valueSat !== undefined) return right('its spent index answers');
    if (input) return wrong('its spent index is off', `take spentindex=0 out of its configuration, ${REINDEX}`);
    if (block.height <= lowest) return note(`no transparent input since block ${lowest} to test its spent index with`);
  }
}

async function identityIndex(client: VerusdClient, block: Block, subject: string): Promise<Finding> {
  const { right, note } = findingsOf(subject);
  const asked = await client.call('getidentitieswithaddress', [{ address: rewardAddress(block) }]).catch(refusal);
  if (!(asked instanceof DaemonRpcError)) return right('its identity index answers');
  if (!asked.rpcMessage.includes('idindex')) {
    return note(`its identity index could not be tested: it says "${asked.rpcMessage}"`);
  }
  return note(
    'its identity index is off: the JSON-RPC method getidentitieswithaddress and its like are refused',
    `set idindex=1 if they are to be served, ${REINDEX}`,
  );
}

function rewardAddress(block: Block): string | undefined {
  return block.tx[0]?.vout[0]?.scriptPubKey.addresses?.[0];
}

/** Returns a refusal of the daemon as a result, since it is an answer; rethrows other errors. */
function refusal(error: unknown): DaemonRpcError {
  if (error instanceof DaemonRpcError) return error;
  throw error;
}
