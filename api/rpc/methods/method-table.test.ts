import { expect, test } from 'vitest';
import { readRpcBody } from '../../../schemas/verusd/rpc-envelope.ts';
import { rpcCost, tooManyRequests } from '../cost.ts';
import { RPC_METHODS } from './method-table.ts';

/** The published list. */
const LISTED = `getbestblockhash getblockcount getblockhash
coinsupply convertpassphrase createmultisig createrawtransaction decoderawtransaction decodescript decryptdata
estimateconversion estimatefee estimatepriority getaddressbalance getaddressdeltas getaddressmempool getaddresstxids
getaddressutxos getbestproofroot getblock getblockchaininfo getblockdeltas getblockhashes getblockheader getblocksubsidy
getchaintips getchaintxstats getcurrency getcurrencybalance getcurrencyconverters getcurrencystate getcurrencytrust
getdeprecationinfo getdifficulty getexports getidentitieswithaddress getidentitieswithrecovery
getidentitieswithrevocation getidentity getidentitycontent getidentitytrust getimports getinfo getinitialcurrencystate
getlastimportfrom getlaunchinfo getlocalsolps getmempoolinfo getminingdistribution getmininginfo getnetworkhashps
getnetworkinfo getnetworksolps getnotarizationdata getnotarizationproofs getoffers getpendingtransfers getrawmempool
getrawtransaction getreservedeposits getsaplingtree getsnapshot getspentinfo gettxout gettxoutproof gettxoutsetinfo
getvdxfid hashdata help listcurrencies listidentities listopenoffers recoveridentity registeridentity revokeidentity
sendcurrency sendrawtransaction setidentitytimelock updateidentity validateaddress verifychain verifyhash verifymessage
verifysignature verifytxoutproof`.split(/\s+/);

const EXTENSIONS = [
  'getbalanceall',
  'getbridgetransfers',
  'getidentityhistory',
  'getoptimalroute',
  'getsubidentities',
  'gettxhistoryrich',
];

test('the table holds the 85 published methods and the six extensions, and nothing else', () => {
  expect(LISTED.length).toBe(85);
  expect(Object.keys(RPC_METHODS).sort()).toEqual([...LISTED, ...EXTENSIONS].sort());
  const named = (source: string) => Object.keys(RPC_METHODS).filter((name) => RPC_METHODS[name]?.source === source);
  expect(named('index')).toEqual(LISTED.slice(0, 3));
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
