/** Every JSON-RPC method that is served, with its conditions. Methods that are not in this table do not exist for clients. */
import { CHAIN_METHODS } from './chain.ts';
import { CURRENCY_METHODS } from './currencies.ts';
import { IDENTITY_METHODS, identityHistoryOfDaemon } from './identities.ts';
import { type DaemonMethod, daemon, type RpcMethod } from './rpc-method.ts';
import { TRANSACTION_METHODS } from './transactions.ts';

/** Credits of a call with a key. */
export const RPC_CREDITS = { index: 1, extension: 2, daemon: 5 } as const;

/** Methods by their heading in docs/json-rpc.md. */
export const METHOD_GROUPS: Readonly<Record<string, Readonly<Record<string, RpcMethod>>>> = {
  Chain: CHAIN_METHODS,
  'Transactions and addresses': TRANSACTION_METHODS,
  Currencies: CURRENCY_METHODS,
  Identities: IDENTITY_METHODS,
};

export const RPC_METHODS: Readonly<Record<string, RpcMethod>> = {
  ...CHAIN_METHODS,
  ...TRANSACTION_METHODS,
  ...CURRENCY_METHODS,
  ...IDENTITY_METHODS,
};

/** Returns undefined for a method that is not served; names are case-sensitive, as in the daemon. */
export function rpcMethod(name: string): RpcMethod | undefined {
  return Object.hasOwn(RPC_METHODS, name) ? RPC_METHODS[name] : undefined;
}

/** Numbers of parameters with which getidentityhistory is answered here; with proof parameters, or none, the daemon answers it. */
const HISTORY_FORMS = { fewest: 1, most: 3 } as const;

/** The daemon method that a call uses; undefined when the call is answered here. */
export function daemonForm(name: string, parameterCount: number): DaemonMethod | undefined {
  const method = rpcMethod(name);
  if (method?.source === 'daemon') return method;
  if (name !== 'getidentityhistory') return undefined;
  const here = parameterCount >= HISTORY_FORMS.fewest && parameterCount <= HISTORY_FORMS.most;
  return here ? undefined : identityHistoryOfDaemon;
}

/** The daemon's form of a method of the index, for while the index is far behind; undefined for any other method. */
export function formOfIndexed(name: string): DaemonMethod | undefined {
  const method = rpcMethod(name);
  return method?.source === 'index' ? daemon(method.parameters, method.types, method.summary) : undefined;
}

/** Credits of one call with a key; an unknown method costs as much as one from the index. */
export function rpcCredits(name: string, parameterCount: number): number {
  if (daemonForm(name, parameterCount)) return RPC_CREDITS.daemon;
  const method = rpcMethod(name);
  if (method?.source !== 'extension') return RPC_CREDITS.index;
  return method.asksDaemon ? RPC_CREDITS.daemon : RPC_CREDITS.extension;
}

/** Name and parameters, in the format that the daemon's help begins with. */
export const signatureOf = (name: string, { parameters }: Pick<RpcMethod, 'parameters'>): string =>
  parameters === '' ? name : `${name} ${parameters}`;
