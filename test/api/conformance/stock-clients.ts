/** Unchanged client libraries from npm, one of the bitcoin world and one of JSON-RPC 2.0: they need only an address. */
import { createRequire } from 'node:module';
import { createJSONRPCRequest, JSONRPCClient, type JSONRPCResponse } from 'json-rpc-2.0';
import { describe, expect, it } from 'vitest';
import { blocks, type LooseJson, tip } from '../truth.ts';

type Callback = (error: { code: number; message: string } | null, answer: { result: LooseJson }) => void;
type Call = (...parameters: unknown[]) => void;

/** The package has no types of its own. */
type BitcoindRpc = Readonly<Record<string, Call>>;
const BitcoindRpc = createRequire(import.meta.url)('bitcoind-rpc') as new (options: object) => BitcoindRpc;

export function stockClientsWork(port: () => number): void {
  describe('a stock client', () => {
    it('bitcoind-rpc: usual calls, errors, a batch', async () => {
      const options = { protocol: 'http', host: '127.0.0.1', port: port(), user: 'anybody', pass: 'anything' };
      const client = new BitcoindRpc(options);
      const ask = (method: string, ...parameters: unknown[]) =>
        new Promise<LooseJson>((resolve, reject) => {
          const done: Callback = (error, answer) => (error ? reject(error) : resolve(answer.result));
          client[method]?.(...parameters, done);
        });
      const { hash } = blocks[700];
      expect(await ask('getBlockCount')).toBe(tip);
      expect(await ask('getBestBlockHash')).toBe(blocks[tip].hash);
      expect(await ask('getBlockHash', 700)).toBe(hash);
      expect((await ask('getBlock', hash)).height).toBe(700);
      const [{ txid }] = blocks[700].tx;
      expect((await ask('getRawTransaction', txid, 1)).txid).toBe(txid);
      expect((await ask('getInfo')).name).toBe('VRSCTEST');
      await expect(ask('getBlockHash', tip + 1)).rejects.toMatchObject({ code: -8 });
      await expect(ask('getWalletInfo')).rejects.toMatchObject({ code: -32601, message: 'Method not found' });
      const batched = await new Promise<readonly { result: LooseJson }[]>((resolve, reject) => {
        const calls = () => {
          client.getBlockHash?.(1);
          client.getBlockCount?.();
        };
        client.batch?.(calls, (error: unknown, answers: readonly { result: LooseJson }[]) =>
          error ? reject(error) : resolve(answers),
        );
      });
      expect(batched.map(({ result }) => result)).toEqual([blocks[1].hash, tip]);
    });

    it('json-rpc-2.0: usual calls, errors, a batch', async () => {
      const client: JSONRPCClient = new JSONRPCClient(async (request) => {
        const answer = await fetch(`http://127.0.0.1:${port()}/`, { method: 'POST', body: JSON.stringify(request) });
        client.receive((await answer.json()) as JSONRPCResponse);
      });
      expect(await client.request('getblockcount', [])).toBe(tip);
      expect(await client.request('getblockhash', [9])).toBe(blocks[9].hash);
      const { identity } = (await client.request('getidentity', ['alice@'])) as LooseJson;
      expect(identity.name).toBe('alice');
      const unknown = createJSONRPCRequest(7, 'getrawtransaction', [`${'0'.repeat(63)}1`, 1]);
      expect((await client.requestAdvanced(unknown)).error?.code).toBe(-5);
      const calls = [8, 9].map((height) => createJSONRPCRequest(height, 'getblockhash', [height]));
      const answers = await client.requestAdvanced(calls);
      expect(answers.map(({ result }) => result)).toEqual([blocks[8].hash, blocks[9].hash]);
    });
  });
}
