/** Signatures that the daemon made and verified, and signatures of the tests' own keys. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { rawMember } from '../../domain/json/raw-json.ts';
import { createSigningIdentity } from '../../test/support/recordings/player/signing-identity.ts';
import { viewChain } from './chain-view.ts';
import { createDerivations } from './derivations.ts';
import { answerOf, loadRecordedCalls, readCases } from './recorded-calls.ts';
import { loadRecording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';
import { messageHash, verifyAddressMessage, verifyIdentityMessage } from './verify-message.ts';

const folder = fileURLToPath(new URL('../private-network/', import.meta.url));
const recording = loadRecording(folder);
const derivations = createDerivations(recording, loadRecordedCalls(folder));
const view = viewChain(recording, { branch: 'main', height: recording.tip, orphansKnown: true });
const verify = (...params: unknown[]) =>
  derivations.verifymessage?.(
    view,
    params.map((param) => JSON.stringify(param)),
  );

describe('signatures of the recorded daemon', () => {
  it('signmessage: every signature is valid only for its signer and message, and the hash is the same', () => {
    let signed = 0;
    for (const { name, request, ...answer } of readCases(folder)) {
      if (!name.startsWith('signmessage/') || !('body' in answer)) continue;
      const said = answerOf(answer.body);
      if (!('result' in said)) continue;
      const [signer, message] = JSON.parse(rawMember(request, 'params') ?? '[]') as [string, string];
      const { hash, signature } = JSON.parse(said.result) as { hash: string; signature: string };
      expect(messageHash(message).toString('hex'), name).toBe(hash);
      expect(verify(signer, signature, message, true), name).toBe('true');
      expect(verify(signer, signature, `${message} `, true), name).toBe('false');
      expect(verify(signer === 'bob@' ? 'alice@' : 'bob@', signature, message, true), name).toBe('false');
      signed += 1;
    }
    expect(signed).toBeGreaterThanOrEqual(3);
  });

  it('verifymessage: every named case, valid and invalid', () => {
    let judged = 0;
    for (const { name, request, ...answer } of readCases(folder)) {
      if (!name.startsWith('verifymessage/') || name.includes('_fuzz') || !('body' in answer)) continue;
      const params = JSON.parse(rawMember(request, 'params') ?? '[]') as unknown[];
      if (params.length < 3) continue; // answered with the help text
      const said = answerOf(answer.body);
      const expected = 'result' in said ? said.result : 'error' in said ? rawMember(said.error, 'message') : undefined;
      const derived = () => {
        try {
          return verify(...params);
        } catch (error) {
          if (error instanceof RpcFailure) return JSON.stringify(error.message);
          throw error;
        }
      };
      expect(derived(), name).toBe(expected);
      judged += 1;
    }
    expect(judged).toBeGreaterThanOrEqual(19);
  });
});

describe('keys of the tests', () => {
  const systemId = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
  const alice = createSigningIdentity({ systemId });
  const several = createSigningIdentity({ systemId, keys: 3, minimum: 2 });
  const signer = (keys: typeof alice | null, checkLatest = true) => ({
    systemId,
    tip: 100,
    keysAt: () => keys,
    checkLatest,
  });
  const check = async (keys: typeof alice | null, signature: string, message = 'hello') =>
    verifyIdentityMessage(signer(keys), Buffer.from(signature, 'base64'), message);

  it.each([1, 2] as const)('a signature of version %i is valid', async (version) => {
    expect(await check(alice, await alice.sign('hello', 100, version))).toBe(true);
    expect(await check(several, await several.sign('hello', 7, version))).toBe(true);
  });

  it('rejects another message, identity or chain, a future height, a revoked or unknown identity, and too few keys', async () => {
    const signature = await alice.sign('hello', 100);
    expect(await check(alice, signature, 'hello!')).toBe(false);
    expect(await check(several, signature)).toBe(false);
    expect(await check({ ...alice, identityaddress: several.identityaddress }, signature)).toBe(false);
    const elsewhere = { ...signer(alice), systemId: several.identityaddress };
    expect(verifyIdentityMessage(elsewhere, Buffer.from(signature, 'base64'), 'hello')).toBe(false);
    expect(await check(alice, await alice.sign('hello', 101))).toBe(false);
    expect(await check({ ...alice, flags: 0x8000 }, signature)).toBe(false);
    expect(await check({ ...alice, flags: 0x2 }, signature)).toBe(true); // locked: it cannot spend, but its keys can sign
    expect(await check(null, signature)).toBe(false);
    expect(await check({ ...several, minimumsignatures: 3 }, await several.sign('hello', 100))).toBe(false);
  });

  it('rejects a signature with any byte changed', async () => {
    const bytes = Buffer.from(await alice.sign('hello', 100), 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(verifyIdentityMessage(signer(alice), changed, 'hello'), `byte ${at}`).toBe(false);
    }
    expect(verifyIdentityMessage(signer(alice), bytes.subarray(0, -1), 'hello')).toBe(false);
    expect(verifyIdentityMessage(signer(alice), Buffer.concat([bytes, bytes.subarray(-1)]), 'hello')).toBe(false);
  });

  it('an address signs only for itself', async () => {
    const [own = ''] = alice.primaryaddresses;
    const signature = Buffer.from(await alice.signAsAddress('hello'), 'base64');
    expect(verifyAddressMessage(own, signature, 'hello')).toBe(true);
    expect(verifyAddressMessage(several.primaryaddresses[0] ?? '', signature, 'hello')).toBe(false);
    expect(verifyAddressMessage(own, signature, 'hallo')).toBe(false);
  });
});
