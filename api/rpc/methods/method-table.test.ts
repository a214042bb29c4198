import { expect, test } from 'vitest';
import { readRpcBody } from '../../../schemas/verusd/rpc-body.ts';
import { PUBLISHED_METHODS } from '../../../test/support/api/rpc/published-methods.ts';
import { rpcCost, tooManyRequests } from '../cost.ts';
import { RPC_METHODS } from './method-table.ts';

const EXTENSIONS = [
  'getbalanceall',
  'getbridgetransfers',
  'getidentityhistory',
  'getoptimalroute',
  'getsubidentities',
  'gettxhistoryrich',
];

test('the table has the 85 published methods and the six extensions, and nothing else', () => {
  expect(PUBLISHED_METHODS.length).toBe(85);
  expect(Object.keys(RPC_METHODS).sort()).toEqual([...PUBLISHED_METHODS, ...EXTENSIONS].sort());
  const named = (source: string) => Object.keys(RPC_METHODS).filter((name) => RPC_METHODS[name]?.source === source);
  expect(named('index')).toEqual(PUBLISHED_METHODS.slice(0, 3));
  expect(named('extension').sort()).toEqual(EXTENSIONS);
});

test.each([
  ['{"method":"getblockcount"}', 1, 1],
  ['{"method":"getinfo"}', 1, 5],
  ['{"method":"getsubidentities"}', 1, 2],
  ['{"method":"getoptimalroute"}', 1, 5],
  ['{"method":"getidentityhistory","params":["a@",0,-1]}', 1, 2],
  ['{"method":"getidentityhistory","params":["a@",0,-1,true]}', 1, 5],
  ['{"method":"stop"}', 1, 1],
  ['nonsense', 1, 1],
  ['[]', 1, 1],
  ['[{"method":"getblockcount"},{"method":"getinfo"},5]', 3, 7],
  [`[${Array(6).fill('{"method":"getinfo"}').join(',')}]`, 1, 1],
])('%s costs %i requests, %i credits', (body, requests, credits) => {
  expect(rpcCost(readRpcBody(Buffer.from(body)))).toEqual({ requests, credits });
});

test('too many requests', () => {
  const answer = (body: string) => tooManyRequests(readRpcBody(Buffer.from(body)));
  const text = (id: string) => `{"result":null,"error":{"code":-32005,"message":"Too many requests"},"id":${id}}\n`;
  expect(answer('{"id":7,"method":"getblockcount"}')).toMatchObject({ status: 429, body: text('7') });
  expect(answer('[{"id":7,"method":"getblockcount"}]').body).toBe(text('null'));
});
