/** A daemon for tests: verusd's JSON-RPC over a block tree, by real HTTP, with faults on demand. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { reservePort } from '../reserved-port.ts';
import { type BlockTree, createBlockTree, type TreeBlock } from './block-tree.ts';

export type DaemonFault =
  | { readonly kind: 'close' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'garbage' }
  | { readonly kind: 'http'; readonly status: number; readonly body: string }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'delay'; readonly ms: number };

export interface ScriptedCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The call was part of a batch request. */
  readonly isBatch?: true;
}

export interface ScriptedDaemon {
  readonly tree: BlockTree;
  /** Address with user and password. */
  readonly rpc: string;
  readonly calls: readonly ScriptedCall[];
  /** Number of requests; a batch counts once. */
  readonly requests: number;
  /** Every text of a tree's block that was sent, by the block's hash. */
  readonly sent: ReadonlyMap<string, ReadonlySet<string>>;
  /** Called for each call; null means a proper answer. */
  fault: (call: ScriptedCall) => DaemonFault | null;
  user: string;
  password: string;
  /** Rejects every password. */
  refuses: boolean;
  /** Stops listening and drops all connections, like a daemon that shuts down; the port stays reserved. */
  down(): Promise<void>;
  /** Listens again. */
  up(): Promise<void>;
  /** Stops for good and releases the port. */
  stop(): Promise<void>;
}

interface WireCall extends ScriptedCall {
  readonly id: unknown;
}

/** A chain that the daemon serves instead of a tree. */
export interface ServedChain {
  tip(): BlockRef;
  /** Block of the best chain. */
  at(height: number): BlockRef | undefined;
  /** `getblock hash 2`, of any branch. */
  textOf(hash: string): string | undefined;
  /** `getrawtransaction txid 1` of each waiting transaction, by txid. */
  waiting?(): ReadonlyMap<string, string>;
}

interface BlockRef {
  readonly height: number;
  readonly hash: string;
}

export interface ScriptedDaemonOptions {
  readonly tree?: BlockTree;
  readonly chain?: ServedChain;
  /** Answers to methods that do not concern the chain, by method. */
  readonly methods?: Readonly<Record<string, (params: readonly unknown[]) => unknown>>;
  readonly name?: string;
  readonly chainId?: string;
}

class RpcFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Text of `getblock … 2`: confirmations and nextblockhash depend on the current chain, like the real ones. */
export function blockText(tree: BlockTree, block: TreeBlock): string {
  const onBest = tree.at(block.height) === block;
  const next = onBest ? tree.at(block.height + 1) : undefined;
  const members = [
    `"hash":"${block.hash}","validationtype":"work","confirmations":${onBest ? tree.tip().height - block.height + 1 : -1}`,
    `"size":${1000 + block.filler.length},"height":${block.height},"version":65540,"merkleroot":"${block.hash}"`,
    `"tx":[{"txid":"${block.hash}","vout":[{"value":0.00000010,"n":0}],"note":"${block.filler}"}]`,
    `"time":${block.time},"nonce":"00","bits":"200f0f0f","difficulty":1.00000000,"chainwork":"00","chainstake":"00"`,
    ...(block.previousHash === null ? [] : [`"previousblockhash":"${block.previousHash}"`]),
    ...(next ? [`"nextblockhash":"${next.hash}"`] : []),
  ];
  return `{${members.join(',')}}`;
}

export async function startScriptedDaemon(options: ScriptedDaemonOptions = {}): Promise<ScriptedDaemon> {
  const { tree = createBlockTree(), name = 'VRSCTEST', chainId = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq' } = options;
  const calls: ScriptedCall[] = [];
  const sent = new Map<string, Set<string>>();
  let requests = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const { port, release } = await reservePort();
  const chain = options.chain ?? treeChain();

  function treeChain(): ServedChain {
    return {
      tip: tree.tip,
      at: tree.at,
      textOf(hash) {
        const block = tree.get(hash);
        if (!block) return undefined;
        const body = blockText(tree, block);
        sent.set(hash, (sent.get(hash) ?? new Set()).add(body));
        return body;
      },
    };
  }

  function heightBlock(height: unknown): BlockRef {
    const block = typeof height === 'number' ? chain.at(height) : undefined;
    if (!block) throw new RpcFault(-8, 'Block height out of range');
    return block;
  }

  function verboseBlock(where: unknown): string {
    const isHeight = typeof where === 'string' && /^\d{1,10}$/.test(where);
    const body = chain.textOf(isHeight ? heightBlock(Number(where)).hash : String(where));
    if (body === undefined) throw new RpcFault(-5, 'Block not found');
    return body;
  }

  const waiting = () => chain.waiting?.() ?? new Map<string, string>();

  function waitingText(txid: string): string {
    const text = waiting().get(txid);
    if (text === undefined) throw new RpcFault(-5, 'No information available about transaction');
    return text;
  }

  function result({ method, params }: ScriptedCall): string {
    const tip = chain.tip();
    const further = options.methods?.[method];
    if (further) return JSON.stringify(further(params));
    switch (method) {
      case 'getblockchaininfo':
        return JSON.stringify({ chain: 'test', name, chainid: chainId, blocks: tip.height, bestblockhash: tip.hash });
      case 'getinfo':
        return JSON.stringify({ name, chainid: chainId, blocks: tip.height, longestchain: tip.height, connections: 8 });
      case 'getbestblockhash':
        return JSON.stringify(tip.hash);
      case 'getblockcount':
        return String(tip.height);
      case 'getblockhash':
        return JSON.stringify(heightBlock(params[0]).hash);
      case 'getrawmempool':
        return JSON.stringify([...waiting().keys()]);
      case 'getrawtransaction':
        return waitingText(String(params[0]));
      case 'getblock':
        return verboseBlock(params[0]);
      default:
        throw new RpcFault(-32601, `Method ${method} not found`);
    }
  }

  function reply(call: ScriptedCall, id: unknown, fault: DaemonFault | null): { status: number; body: string } {
    try {
      if (fault?.kind === 'error') throw new RpcFault(fault.code, fault.message);
      return { status: 200, body: `{"result":${result(call)},"error":null,"id":${JSON.stringify(id)}}\n` };
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      const body = JSON.stringify({ result: null, error: { code: error.code, message: error.message }, id });
      return { status: error.code === -32601 ? 404 : 500, body: `${body}\n` };
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const expected = `Basic ${Buffer.from(`${daemon.user}:${daemon.password}`).toString('base64')}`;
    if (daemon.refuses || request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="jsonrpc"' }).end();
      return;
    }
    const parsed = JSON.parse(body) as WireCall | readonly WireCall[];
    const isBatch = Array.isArray(parsed);
    requests += 1;
    const asked = [parsed].flat().map(({ id, method, params }) => {
      const call: ScriptedCall = { method, params, ...(isBatch && { isBatch }) };
      calls.push(call);
      return { id, call, fault: daemon.fault(call) };
    });
    // A transport fault of one call affects the whole batch; only an `error` fault is the call's own.
    const fault = asked.find((one) => one.fault)?.fault ?? null;
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    if (fault?.kind === 'close') {
      response.destroy();
      return;
    }
    if (fault?.kind === 'http') {
      response.writeHead(fault.status).end(fault.body);
      return;
    }
    const replies = asked.map((one) => reply(one.call, one.id, one.fault));
    const status = isBatch ? 200 : (replies[0]?.status ?? 500);
    const whole = replies.map((one) => one.body);
    const bytes = Buffer.from(isBatch ? `[${whole.map((one) => one.trimEnd()).join()}]\n` : whole.join(''), 'utf8');
    if (fault?.kind === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
      return;
    }
    const garbled = Buffer.concat([Buffer.from([0, 0xff]), bytes.subarray(0, bytes.length / 2), Buffer.from('"}]')]);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(fault?.kind === 'garbage' ? garbled : bytes);
  }

  const daemon: ScriptedDaemon = {
    tree,
    get rpc() {
      return `http://${daemon.user}:${daemon.password}@127.0.0.1:${port}`;
    },
    calls,
    get requests() {
      return requests;
    },
    sent,
    fault: () => null,
    user: 'user',
    password: 'password',
    refuses: false,
    async down() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.once('close', resolve));
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async up() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async stop() {
      await daemon.down();
      release();
    },
  };
  await daemon.up();
  return daemon;
}
