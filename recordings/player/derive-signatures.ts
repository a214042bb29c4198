/** Computes verifymessage, whose answer depends only on its parameters and on the signer's keys, so that any signature can be checked. */
import { I_ADDRESS, R_ADDRESS } from '../../domain/addresses.ts';
import { rawMember } from '../../domain/json/raw-json.ts';
import { atMost, type Derivations, type Derive, stringParam } from './derivation.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import { RpcFailure } from './rpc-failure.ts';
import { type SigningKeys, verifyAddressMessage, verifyIdentityMessage } from './verify-message.ts';

const KEY_ADDRESS = new RegExp(`^${R_ADDRESS}$`);
const IDENTITY = new RegExp(`^(${I_ADDRESS}|.+@)$`);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const MOST = 4;

export function createSignatureDerivations(calls: RecordedCalls, getidentity: Derive): Derivations {
  let known: string | undefined;

  function systemId(): string {
    if (known === undefined) {
      const info = calls.find('getinfo', '[]');
      if (info === undefined || !('result' in info)) throw new Error('getinfo is not recorded');
      known = JSON.parse(rawMember(info.result, 'chainid') ?? 'null') as string;
    }
    return known;
  }

  return {
    verifymessage(view, params) {
      atMost(params, MOST);
      const [signer, signature, message] = params.map(stringParam);
      const latest = params[3] ?? 'false';
      if (!signer || signature === null || signature === undefined || message === null || message === undefined)
        return null;
      if (latest !== 'true' && latest !== 'false') return null;
      if (!KEY_ADDRESS.test(signer) && !IDENTITY.test(signer)) throw new RpcFailure(-8, 'Invalid address');
      if (signature === '') throw new RpcFailure(-8, 'Invalid signature');
      if (message === '') throw new RpcFailure(-8, 'Cannot verify empty message');
      if (!BASE64.test(signature)) return 'false';
      const bytes = Buffer.from(signature, 'base64');
      if (KEY_ADDRESS.test(signer)) return String(verifyAddressMessage(signer, bytes, message));
      const keysAt = (height: number): SigningKeys | null => {
        try {
          const answer = getidentity(view, [JSON.stringify(signer), String(height)]);
          return answer === null ? null : (JSON.parse(rawMember(answer, 'identity') ?? 'null') as SigningKeys);
        } catch (error) {
          if (error instanceof RpcFailure) return null; // not registered at that height
          throw error;
        }
      };
      const checkLatest = latest === 'true';
      return String(
        verifyIdentityMessage({ systemId: systemId(), tip: view.height, keysAt, checkLatest }, bytes, message),
      );
    },
  };
}
