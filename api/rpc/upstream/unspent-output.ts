/**
 * `gettxout` with the mempool. For an output that is not in a block, the daemon adds a block without a header to its index and crashes
 * when that block is read. So the daemon gets the call only for transactions that no reorganisation can return to the mempool; for all
 * others the same answer is built from `getrawtransaction`, which knows the outputs that the mempool spends.
 */
import { WRITTEN_HASH } from '../../../domain/hashes.ts';
import { rawElements, rawMember } from '../../../domain/json/raw-json.ts';
import { printRpcResult, RPC_CODES, type RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import type { Asker } from '../../access/answer-memory.ts';
import { RPC_METHODS } from '../methods/method-table.ts';
import type { DaemonMethod } from '../methods/rpc-method.ts';
import type { DaemonReply } from './proxy.ts';
import type { Upstream } from './upstream.ts';

/** Returns undefined if the call may go to the daemon unchanged. */
export type UnspentOutput = (request: RpcRequest, asker: Asker) => Promise<DaemonReply> | undefined;

/** Confirmations above which no reorganisation can remove a transaction between two calls. */
const SETTLED = 10;
/** Height of a transaction that only a block of an abandoned branch contains; one in the mempool has no height. */
const ABANDONED = '-1';
const TXID = new RegExp(`^"${WRITTEN_HASH}"$`);
const INDEX = /^-?\d{1,10}$/;

/** For any other parameters the daemon answers with an error or null before it looks for the block. */
const isDeadly = ([txid = '', index = '', mempool = 'true', ...more]: readonly string[]) =>
  TXID.test(txid) && INDEX.test(index) && Number(index) >= 0 && mempool === 'true' && more.length === 0;

export function createUnspentOutput(upstream: Upstream, bestBlock: () => Promise<string>): UnspentOutput {
  const method = (name: string) => RPC_METHODS[name] as DaemonMethod;

  async function answer(request: RpcRequest, asker: Asker): Promise<DaemonReply> {
    const [txid = '', index = ''] = request.texts;
    const texts = [txid, '1'];
    const asked = { ...request, method: 'getrawtransaction', params: `[${texts}]`, texts };
    const reply = await upstream.ask(asked, method('getrawtransaction'), asker);
    const text = `${Buffer.from(reply.body)}${reply.end ?? ''}`;
    const tx = rawMember(text, 'result') ?? 'null';
    if (tx === 'null') {
      const code = Number(rawMember(rawMember(text, 'error') ?? '{}', 'code'));
      return code === RPC_CODES.invalidAddressOrKey ? made('null', request.id) : reply;
    }
    if (rawMember(tx, 'height') === ABANDONED) return made('null', request.id);
    const confirmations = Number(rawMember(tx, 'confirmations') ?? 0);
    if (confirmations > SETTLED) return upstream.ask(request, method('gettxout'), asker);
    const output = outputOf(tx, Number(index));
    return made(output ? printOutput(tx, output, await bestBlock(), confirmations) : 'null', request.id);
  }

  return (request, asker) =>
    request.method === 'gettxout' && isDeadly(request.texts) ? answer(request, asker) : undefined;
}

const made = (result: string, id: string): DaemonReply => ({
  status: 200,
  body: Buffer.from(`${printRpcResult(result, id)}\n`),
});

/** JSON text of an output that is unspent and spendable; undefined for any other. */
function outputOf(tx: string, index: number): string | undefined {
  const outputs = rawMember(tx, 'vout') ?? '[]';
  const span = rawElements(outputs)[index];
  const output = span && outputs.slice(span.start, span.end);
  if (output === undefined || rawMember(output, 'spentTxId') !== undefined) return undefined;
  return rawMember(rawMember(output, 'scriptPubKey') ?? '{}', 'type') === '"nulldata"' ? undefined : output;
}

function printOutput(tx: string, output: string, bestBlock: string, confirmations: number): string {
  const inputs = rawMember(tx, 'vin') ?? '[]';
  const first = rawElements(inputs, 1)[0];
  const isCoinbase = first !== undefined && rawMember(inputs.slice(first.start, first.end), 'coinbase') !== undefined;
  const pairs = [
    ['bestblock', `"${bestBlock}"`],
    ['confirmations', String(confirmations)],
    ['value', rawMember(output, 'value')],
    ['scriptPubKey', rawMember(output, 'scriptPubKey')],
    ['version', rawMember(tx, 'version')],
    ['coinbase', String(isCoinbase)],
  ];
  return `{${pairs.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
}
