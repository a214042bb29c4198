/** Every JSON-RPC method that is served, and under which conditions. What is not in this table does not exist. */
import { addressGuard, deadlyForNativeCurrency, type Guard, onlyWithReturntx } from './guards.ts';

/** Credits of a call with a key. */
const RPC_CREDITS = { index: 1, extension: 2, daemon: 5 } as const;

export type RpcMethod =
  | { readonly source: 'index' }
  | { readonly source: 'extension'; readonly asksDaemon?: true }
  | DaemonMethod;

export interface DaemonMethod {
  readonly source: 'daemon';
  readonly guards: readonly Guard[];
  /** Its answers describe the node's own wallet: whom it can spend and sign for. */
  readonly namesWallet?: true;
  /** Walks the whole chain: its answer may take minutes. */
  readonly slow?: true;
}

const proxied: DaemonMethod = { source: 'daemon', guards: [] };
const slow: DaemonMethod = { source: 'daemon', guards: [], slow: true };
const namesWallet: DaemonMethod = { source: 'daemon', guards: [], namesWallet: true };
/** Its form that returns a transaction instead of sending it; the number is the position of that flag. */
const returntx = (position: number): DaemonMethod => ({ source: 'daemon', guards: [onlyWithReturntx(position)] });

export const RPC_METHODS: Readonly<Record<string, RpcMethod>> = {
  // From the index
  getbestblockhash: { source: 'index' },
  getblockcount: { source: 'index' },
  getblockhash: { source: 'index' },

  // Extensions
  getbalanceall: { source: 'extension' },
  getbridgetransfers: { source: 'extension' },
  getidentityhistory: { source: 'extension' },
  getoptimalroute: { source: 'extension', asksDaemon: true },
  getsubidentities: { source: 'extension' },
  gettxhistoryrich: { source: 'extension' },

  // Writing ones, which must not write
  recoveridentity: returntx(1),
  registeridentity: returntx(1),
  revokeidentity: returntx(1),
  sendcurrency: returntx(4),
  setidentitytimelock: returntx(2),
  updateidentity: returntx(1),

  // Those that could hurt the node or its operator
  getcurrencybalance: { source: 'daemon', guards: [addressGuard] },
  getinitialcurrencystate: { source: 'daemon', guards: [deadlyForNativeCurrency(0)] },
  getidentity: namesWallet,
  getidentitycontent: namesWallet,
  listidentities: namesWallet,

  // Expensive ones
  coinsupply: slow,
  getsnapshot: slow,
  gettxoutsetinfo: slow,
  verifychain: slow,

  convertpassphrase: proxied,
  createmultisig: proxied,
  createrawtransaction: proxied,
  decoderawtransaction: proxied,
  decodescript: proxied,
  decryptdata: proxied,
  estimateconversion: proxied,
  estimatefee: proxied,
  estimatepriority: proxied,
  getaddressbalance: proxied,
  getaddressdeltas: proxied,
  getaddressmempool: proxied,
  getaddresstxids: proxied,
  getaddressutxos: proxied,
  getbestproofroot: proxied,
  getblock: proxied,
  getblockchaininfo: proxied,
  getblockdeltas: proxied,
  getblockhashes: proxied,
  getblockheader: proxied,
  getblocksubsidy: proxied,
  getchaintips: proxied,
  getchaintxstats: proxied,
  getcurrency: proxied,
  getcurrencyconverters: proxied,
  getcurrencystate: proxied,
  getcurrencytrust: proxied,
  getdeprecationinfo: proxied,
  getdifficulty: proxied,
  getexports: proxied,
  getidentitieswithaddress: proxied,
  getidentitieswithrecovery: proxied,
  getidentitieswithrevocation: proxied,
  getidentitytrust: proxied,
  getimports: proxied,
  getinfo: proxied,
  getlastimportfrom: proxied,
  getlaunchinfo: proxied,
  getlocalsolps: proxied,
  getmempoolinfo: proxied,
  getminingdistribution: proxied,
  getmininginfo: proxied,
  getnetworkhashps: proxied,
  getnetworkinfo: proxied,
  getnetworksolps: proxied,
  getnotarizationdata: proxied,
  getnotarizationproofs: proxied,
  getoffers: proxied,
  getpendingtransfers: proxied,
  getrawmempool: proxied,
  getrawtransaction: proxied,
  getreservedeposits: proxied,
  getsaplingtree: proxied,
  getspentinfo: proxied,
  gettxout: proxied,
  gettxoutproof: proxied,
  getvdxfid: proxied,
  hashdata: proxied,
  help: proxied,
  listcurrencies: proxied,
  listopenoffers: proxied,
  sendrawtransaction: proxied,
  validateaddress: proxied,
  verifyhash: proxied,
  verifymessage: proxied,
  verifysignature: proxied,
  verifytxoutproof: proxied,
};

/** Undefined for what is not served; names are case-sensitive, as they are to the daemon. */
export function rpcMethod(name: string): RpcMethod | undefined {
  return Object.hasOwn(RPC_METHODS, name) ? RPC_METHODS[name] : undefined;
}

/** getidentityhistory is the daemon's own method, too: with the parameters for proofs, and for what it says to none at all. */
const HISTORY_FORMS = { fewest: 1, most: 3 } as const;

/** How a call goes to the daemon; undefined when it is answered here. */
export function daemonForm(name: string, parameterCount: number): DaemonMethod | undefined {
  const method = rpcMethod(name);
  if (method?.source === 'daemon') return method;
  if (name !== 'getidentityhistory') return undefined;
  const here = parameterCount >= HISTORY_FORMS.fewest && parameterCount <= HISTORY_FORMS.most;
  return here ? undefined : namesWallet;
}

/** Credits of one call with a key; a method that is not served costs as little as one from the index. */
export function rpcCredits(name: string, parameterCount: number): number {
  if (daemonForm(name, parameterCount)) return RPC_CREDITS.daemon;
  const method = rpcMethod(name);
  if (method?.source !== 'extension') return RPC_CREDITS.index;
  return method.asksDaemon ? RPC_CREDITS.daemon : RPC_CREDITS.extension;
}
