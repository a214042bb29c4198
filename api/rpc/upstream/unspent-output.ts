/**
 * `gettxout` with the mempool. For an output that is not in a block, the daemon adds a block without a header to its index and crashes
 * when that block is read. So the daemon gets the call only for transactions that no reorganisation can return to the mempool; for all
 * others the same answer is built from `getrawtransaction`, which knows the outputs that the mempool spends.
 */
import { WRITTEN_HASH } from '../../../domain/hashes.ts';
import { eachPart, rawMember, rawMembers } from '../../../domain/json/raw-json.ts';
import { printRpcResult, RPC_CODES, type RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import type { Asker } from '../../access/answer-memory.ts';
import { inTurns } from '../../state/in-turns.ts';
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
/** Beginning of a daemon's reply, up to its result; a proxy may order the members in another way. */
const RESULT = /^\s*\{\s*"result"\s*:\s*/;

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
    const start = RESULT.exec(text)?.[0].length ?? rawMembers(text, 0).find(({ key }) => key === 'result')?.start;
    if (start === undefined || text[start] !== '{') {
      const code = Number(rawMember(rawMember(text, 'error') ?? '{}', 'code'));
      return code === RPC_CODES.invalidAddressOrKey ? made('null', request.id) : reply;
    }
    const tx = await readTransaction(text, start, Number(index));
    if (tx.height === ABANDONED) return made('null', request.id);
    const confirmations = Number(tx.confirmations ?? 0);
    if (confirmations > SETTLED) return upstream.ask(request, method('gettxout'), asker);
    const output = isSpendable(tx.output) ? printOutput(tx, tx.output, await bestBlock(), confirmations) : 'null';
    return made(output, request.id);
  }

  return (request, asker) =>
    request.method === 'gettxout' && isDeadly(request.texts) ? answer(request, asker) : undefined;
}

const made = (result: string, id: string): DaemonReply => ({
  status: 200,
  body: Buffer.from(`${printRpcResult(result, id)}\n`),
});

/** JSON texts of a transaction; undefined for what it does not have. */
interface Transaction {
  height?: string;
  confirmations?: string;
  version?: string;
  firstInput?: string;
  /** The output that was asked for. */
  output?: string;
}

/** Reads the transaction that begins at `start` in one pass and in turns with other work, because it may take tens of megabytes. */
async function readTransaction(text: string, start: number, index: number): Promise<Transaction> {
  const tx: Transaction = {};
  let outputs = 0;
  await inTurns(eachPart(text, start, ['vin', 'vout']), ({ key, start: from, end }) => {
    if (key === 'vout') {
      if (outputs === index) tx.output = text.slice(from, end);
      outputs += 1;
    } else if (key === 'vin') tx.firstInput ??= text.slice(from, end);
    else if (key === 'height' || key === 'confirmations' || key === 'version') tx[key] ??= text.slice(from, end);
  });
  return tx;
}

function isSpendable(output: string | undefined): output is string {
  if (output === undefined || rawMember(output, 'spentTxId') !== undefined) return false;
  return rawMember(rawMember(output, 'scriptPubKey') ?? '{}', 'type') !== '"nulldata"';
}

function printOutput(
  { version, firstInput }: Transaction,
  output: string,
  bestBlock: string,
  confirmations: number,
): string {
  const isCoinbase = firstInput !== undefined && rawMember(firstInput, 'coinbase') !== undefined;
  const pairs = [
    ['bestblock', `"${bestBlock}"`],
    ['confirmations', String(confirmations)],
    ['value', rawMember(output, 'value')],
    ['scriptPubKey', rawMember(output, 'scriptPubKey')],
    ['version', version],
    ['coinbase', String(isCoinbase)],
  ];
  return `{${pairs.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
}
