import { expect, test } from 'vitest';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';

interface Step {
  readonly method: string;
  readonly result?: { readonly txid: string; readonly namereservation: { readonly nameid: string } };
}

const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const CLUB = 'iLJCY9nzpyqEqHe4y3WZiWgYDWCkMUFNXa';
const USDX = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';

const identities = foldRecording().all('identity');
const registered = identities.flatMap(({ identityAddress, name, referral, registration }) =>
  registration === null
    ? []
    : [{ identityAddress, name, referral, ...(JSON.parse(registration) as { commitmentTxid: string; cost: object }) }],
);

test('every registration spends the commitment that the wallet made for its name', () => {
  const steps = recordedTruth<Step[]>('truth/steps.json.gz');
  const commitments = new Map<string, string[]>();
  for (const { method, result } of steps) {
    if (method !== 'registernamecommitment' || !result) continue;
    const { nameid } = result.namereservation;
    commitments.set(nameid, [...(commitments.get(nameid) ?? []), result.txid]);
  }
  expect(registered).toHaveLength(27);
  for (const { identityAddress, commitmentTxid, name } of registered) {
    expect(commitments.get(identityAddress), name).toContain(commitmentTxid);
  }
});

test('only the state that registered an identity has its registration', () => {
  const newlyRegistered = identities.filter(({ registration }) => registration !== null);
  expect(newlyRegistered.every(({ kind }) => kind === 'registered')).toBe(true);
  expect(new Set(newlyRegistered.map(({ identityAddress }) => identityAddress)).size).toBe(newlyRegistered.length);
});

test('the price is 100, 80 with a referrer, and for a token’s sub-identity its fee and 0.02 to the chain', () => {
  for (const { name, referral, cost } of registered) {
    if (/^(m\d|pay)$/.test(name)) continue;
    expect(cost, name).toEqual({ [NATIVE]: referral ? '8000000000' : '10000000000' });
  }
  const of = (wanted: string) => registered.find(({ name }) => name === wanted)?.cost;
  expect(of('m1')).toEqual({ [NATIVE]: '2020000', [CLUB]: '500000000' });
  expect(of('m2')).toEqual({ [NATIVE]: '2020000', [CLUB]: '375000000' });
  expect(of('m3')).toEqual({ [NATIVE]: '2020000', [CLUB]: '375000000' });
  expect(of('pay')).toEqual({ [NATIVE]: '2000000', [USDX]: '1000000000' });
});
