/** A daemon before which many transactions wait: all else is answered by another one. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { LooseJson } from '../../../api/truth.ts';

const MOST_FEE = 10_000 + 16 ** 7;

export interface CrowdedDaemon {
  /** With the credentials of the other one. */
  readonly url: string;
  /** Fees of what waits, in satoshis, from the highest: all are of one size. */
  readonly fees: readonly number[];
  /** Whom all of them pay. */
  readonly payee: string;
  stop(): Promise<void>;
}

/**
 * All spend the same output, with fees of their own: no real mempool holds such, but who reads them one by one cannot tell.
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

/** The newest payment that leaves room for any fee. */
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
/** Different ones, in no order. */
const feeAt = (at: number): number => 10_000 + Number.parseInt(txidOf(at).slice(0, 7), 16);
