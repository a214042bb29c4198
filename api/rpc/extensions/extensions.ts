/** Adapts the extension methods to the JSON-RPC handler: JSON texts in, JSON text out, errors with the daemon's codes. */
import { stringifyExact } from '../../../domain/json/exact-json.ts';
import { nameToAddress } from '../../../domain/names.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { SERVICE, type WorkOwner } from '../../access/priority-lanes.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError, type ApiErrorCode } from '../../http/api-error.ts';
import { createIdentityHistory } from '../identity-history.ts';
import type { AnswerMethod } from '../index-methods.ts';
import { RpcError } from '../rpc-error.ts';
import { balanceAll } from './balance-all.ts';
import { bridgeTransfers } from './bridge-transfers.ts';
import type { Extension } from './extension.ts';
import { optimalRoute } from './optimal-route.ts';
import { subIdentities } from './sub-identities.ts';
import { transactionHistory } from './transaction-history.ts';

/** `gone` aborts when the answer is no longer wanted. */
type ApiOf = (owner: WorkOwner, gone?: AbortSignal) => ApiContext;

const EXTENSIONS: Readonly<Record<string, Extension>> = {
  getbalanceall: balanceAll,
  getbridgetransfers: bridgeTransfers,
  getoptimalroute: optimalRoute,
  getsubidentities: subIdentities,
  gettxhistoryrich: transactionHistory,
};

const CODES: Partial<Record<ApiErrorCode, number>> = {
  invalid_parameter: RPC_CODES.invalidParameter,
  not_found: RPC_CODES.invalidAddressOrKey,
  syncing: RPC_CODES.inWarmUp,
};

/** Translates refusals of the REST interface to the daemon's error codes. */
function asRpcError(error: unknown): unknown {
  const code = error instanceof ApiError ? CODES[error.code as ApiErrorCode] : undefined;
  return code === undefined ? error : new RpcError(code, (error as ApiError).message, { cause: error });
}

function answerWith(apiOf: ApiOf, extension: Extension): AnswerMethod {
  return async (name, texts, asker) => {
    const api = apiOf(asker, asker.memory?.signal);
    const chain = api.chain(name);
    try {
      const value = await api.snapshot((read) => extension({ api, chain, read, texts }));
      return stringifyExact(typeof value === 'function' ? await value() : value);
    } catch (error) {
      throw asRpcError(error);
    }
  };
}

export function createExtensions(apiOf: ApiOf): Readonly<Record<string, AnswerMethod>> {
  return {
    ...Object.fromEntries(Object.entries(EXTENSIONS).map(([name, extension]) => [name, answerWith(apiOf, extension)])),
    getidentityhistory: createIdentityHistory(
      (work, owner) => apiOf(owner).snapshot(work),
      (chain, name) => nameToAddress(name, apiOf(SERVICE).chain(chain).networkRoot),
    ),
  };
}
