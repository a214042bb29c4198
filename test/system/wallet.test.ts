/**
 * A daemon whose wallet has coins: the program reports it everywhere and serves as before; with requireEmptyWallet it serves no wallet
 * method.
 */
import { expect, it } from 'vitest';
import { type Program, runCommand, startProgram, until } from './program.ts';
import { settingsForAll, startNode } from './recorded-chain.ts';

const TOUCHING = { method: 'validateaddress', params: ['R9Wg6hDZYpbzuVXgMguXuydfvYt68YrnQ8'] };
const OTHER = { method: 'getblockchaininfo', params: [] };

async function call(program: Program, chain: string, request: object): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify({ id: 1, ...request }) };
  const { error } = (await (await fetch(`${program.base}/rpc/${chain}`, init)).json()) as {
    error: { code: number } | null;
  };
  return error ? String(error.code) : 'served';
}

it('appears in the log, the metrics and status; with requireEmptyWallet its wallet is out of reach', async () => {
  const node = await startNode(50);
  const settings = settingsForAll([
    { name: 'open', rpc: node.url },
    { name: 'strict', rpc: node.url, requireEmptyWallet: true },
  ]);
  const program = await startProgram(settings).answers();
  const table = async () => (await runCommand(['status'], settings)).output;
  await until('status names the wallets', async () => (await table()).match(/wallet of daemon 1 holds/g)?.length === 2);
  expect(await table()).toContain('The wallet of daemon 1 holds coins and shielded addresses: give it an empty one.');
  expect((await table()).match(/Methods that touch the wallet are not served/g)).toHaveLength(1);
  expect(program.output()).toContain('the wallet of daemon 1 of open holds coins and shielded addresses');
  const { body } = await program.get('/metrics');
  expect(body).toContain('verustream_daemon_wallet_holds{chain="open",daemon="1"} 1');
  expect(await call(program, 'strict', TOUCHING)).toBe('-32601');
  expect(await call(program, 'strict', OTHER)).toBe('served');
  expect(await call(program, 'open', OTHER)).toBe('served');
  node.advanceTo(node.tip); // the recording has the answer at this height
  expect(await call(program, 'open', TOUCHING)).toBe('served');
  expect(await call(program, 'strict', TOUCHING)).toBe('-32601');
});
