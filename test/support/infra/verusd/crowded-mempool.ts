/** A daemon with a crowded mempool; another daemon answers everything else. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { LooseJson } from '../../../api/truth.ts';

const MOST_FEE = 10_000 + 16 ** 7;

export interface CrowdedDaemon {
  /** Has the credentials of the other daemon. */
  readonly url: string;
  /** Fees of the waiting transactions in satoshis, the highest first; all transactions have the same size. */
  readonly fees: readonly number[];
  /** Address that all of them pay. */
  readonly payee: string;
  stop(): Promise<void>;
}

/**
 * All transactions spend the same output with different fees. A real mempool would not contain them together, but a client that reads them
 * one by one cannot tell.
 */
export async function startCrowdedDaemon(behind: string, transactions: number): Promise<CrowdedDaemon> {
  const { origin, username, password } = new URL(behind);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const ask = async (body: Uint8Array | string) => {
    const answer = await fetch(origin, { method: 'POST', headers: { authorization }, body });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const resultOf = async (method: string, ...params: unknown[]): Promise<LooseJson> =>
    JSON.parse((await ask(JSON.stringify({ id: 1, method, params }))).bytes.toString()).result;
  const template = await payment(resultOf);
  const coin = template.vout.find(isSpendable);
  const crowd = new Map(Array.from({ length: transactions }, (_, at) => [txidOf(at), at] as const));
  const list = JSON.stringify([...crowd.keys()]);

  function waiting(at: number): string {
    const valueSat = coin.valueSat - feeAt(at);
    const vin = [{ ...template.vin[0], txid: template.txid, vout: coin.n, value: coin.value, valueSat: coin.valueSat }];
    const vout = [{ ...coin, n: 0, value: valueSat / 1e8, valueSat, valueZat: valueSat }];
    return JSON.stringify({ ...template, txid: txidOf(at), vin, vout });
  }

  function own(body: Buffer): string | null {
    if (body.length > 1000 || !/"getraw(mempool|transaction)"/.test(body.toString('latin1'))) return null;
    const { id, method, params } = JSON.parse(body.toString()) as LooseJson;
    const at = crowd.get(params?.[0]);
    const result = method === 'getrawmempool' ? list : at === undefined ? null : waiting(at);
    return result && `{"result":${result},"error":null,"id":${JSON.stringify(id)}}\n`;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const mine = own(body);
    const { status, bytes } = mine === null ? await ask(body) : { status: 200, bytes: Buffer.from(mine) };
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${username}:${password}@127.0.0.1:${port}`,
    fees: Array.from({ length: transactions }, (_, at) => feeAt(at)).sort((a, b) => b - a),
    payee: coin.scriptPubKey.addresses[0],
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The newest payment that is large enough for any fee. */
async function payment(resultOf: (method: string, ...params: unknown[]) => Promise<LooseJson>): Promise<LooseJson> {
  for (let height: number = await resultOf('getblockcount'); height > 0; height -= 1) {
    const { tx } = await resultOf('getblock', String(height), 2);
    const found = tx.find(({ vin, vout }: LooseJson) => vin[0]?.txid && vout.some(isSpendable));
    if (found) return found;
  }
  throw new RangeError('the chain has no payment');
}

const isSpendable = ({ scriptPubKey, valueSat, spentTxId }: LooseJson): boolean =>
  scriptPubKey.type === 'pubkeyhash' && valueSat > MOST_FEE && spentTxId === undefined;

const txidOf = (at: number): string => createHash('sha256').update(`waits ${at}`).digest('hex');
/** Different fees in no particular order. */
const feeAt = (at: number): number => 10_000 + Number.parseInt(txidOf(at).slice(0, 7), 16);
