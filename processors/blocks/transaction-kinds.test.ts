import { describe, expect, test } from 'vitest';
import type { TransactionFact } from '../../schemas/facts.ts';
import type { DaemonOutput } from '../../schemas/verusd/block.ts';
import { decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { transactionKinds } from './transaction-kinds.ts';

const ORDINARY = { isCoinbase: false, isStake: false };
const NULL_HASH = '0'.repeat(64);
const HASH = `1${'0'.repeat(63)}`;

const coins = output(0, '1', payTo('RX'));
const reserveOutput = output(0, '0', decodedAs('reserveoutput', '{}'));
const make = (kind: string, object: string, addresses: string[] = []): DaemonOutput =>
  output(0, '0', decodedAs(kind, object, addresses));
const transfer = (flags: number): DaemonOutput => make('reservetransfer', `{"flags":${flags}}`);
const kindsOf = (...outputs: DaemonOutput[]) => transactionKinds(transaction('a', ['b:0'], outputs), ORDINARY);

describe('recorded', () => {
  const transactions = new Map(
    foldRecording()
      .all('transaction')
      .map((fact) => [fact.txid, fact]),
  );
  const steps =
    recordedTruth<{ step: string; method: string; result: unknown; txid?: string; error?: unknown }[]>(
      'truth/steps.json.gz',
    );
  const minedBy = (method: string): TransactionFact[] =>
    steps.flatMap(({ method: called, result, txid, error }) => {
      if (called !== method || error) return [];
      const answer = typeof result === 'object' && result !== null ? (result as { txid?: string }).txid : result;
      return transactions.get(txid ?? String(answer)) ?? [];
    });

  test.each([
    ['registernamecommitment', 'name_commitment', 27],
    ['registeridentity', 'identity_registration', 27],
    ['updateidentity', 'identity_update', 16],
    ['setidentitytimelock', 'identity_update', 4],
    ['revokeidentity', 'identity_update', 2],
    ['recoveridentity', 'identity_update', 1],
    ['z_sendmany', 'shielded', 3],
  ])('what %s made is a(n) %s', (method, kind, count) => {
    const made = minedBy(method);
    expect(made.map((fact) => fact.kind)).toEqual(new Array(count).fill(kind));
  });

  test('every offer has the kind offer, whatever it locks', () => {
    const made = minedBy('makeoffer');
    expect(made).toHaveLength(5);
    for (const fact of made) expect(fact.kinds, fact.txid).toContain('offer');
  });

  test('every definition of a currency has its kind, and none that of an import or an export', () => {
    const { currencies } = recordedTruth<{ currencies: Record<string, { definitiontxid?: string }> }>(
      'truth/supply.json',
    );
    const defined = Object.values(currencies).flatMap(({ definitiontxid }) => definitiontxid ?? []);
    expect(defined).toHaveLength(11);
    for (const txid of defined) {
      const fact = transactions.get(txid);
      expect(fact?.kind).toBe('currency_definition');
      expect(fact?.kinds).not.toContain('import');
      expect(fact?.kinds).not.toContain('export');
    }
    expect([...transactions.values()].filter(({ kind }) => kind === 'currency_definition')).toHaveLength(11);
  });

  test('conversions, burns, mints and preconversions of the wallet have their kinds', () => {
    const sent =
      recordedTruth<{ kind: string; transfer: { txid: string; reservetransfer: { flags: number } } }[]>(
        'truth/conversions.json',
      );
    const kinds: Record<string, string> = {
      mint: 'mint',
      burn: 'burn',
      preconvert: 'preconversion',
      'preconvert-refund': 'preconversion',
    };
    for (const { kind, transfer: made } of sent) {
      expect(transactions.get(made.txid)?.kinds, made.txid).toContain(kinds[kind] ?? 'conversion');
    }
    expect(sent).toHaveLength(239);
  });

  test.each([
    ['import', 'series/imports.json.gz', 'importtxid'],
    ['export', 'series/exports.json.gz', 'txid'],
  ])('every %s that the daemon lists, and no other', (kind, file, key) => {
    const series = recordedTruth<Record<string, Record<string, unknown>[] | null>>(file);
    const listed = new Set(Object.values(series).flatMap((rows) => (rows ?? []).map((row) => row[key])));
    const derived = [...transactions.values()].filter((fact) => fact.kind === kind).map(({ txid }) => txid);
    const definitions = [...transactions.values()].filter((fact) => fact.kind === 'currency_definition');
    expect(new Set([...derived, ...definitions.map(({ txid }) => txid)])).toEqual(listed);
  });

  test('coinbases and stakes are recognized by their place', () => {
    const facts = [...transactions.values()];
    expect(facts.filter(({ kind }) => kind === 'coinbase')).toHaveLength(1552);
    expect(facts.filter(({ kind }) => kind === 'stake')).toHaveLength(420);
    for (const { kind, txIndex } of facts) expect(kind === 'coinbase').toBe(txIndex === 0);
  });
});

describe('made up', () => {
  test('a payment of coins or of tokens is a transfer', () => {
    expect(kindsOf(coins)).toEqual(['transfer']);
    expect(kindsOf(reserveOutput)).toEqual(['transfer']);
    expect(transactionKinds(transaction('a', ['b:0'], []), ORDINARY)).toEqual(['transfer']);
  });

  test.each([
    [0x21, 'mint'],
    [0x81, 'burn'],
    [0x281, 'burn'],
    [0x101, 'burn'],
    [7, 'preconversion'],
    [5, 'preconversion'],
    [3, 'conversion'],
    [515, 'conversion'],
    [67, 'conversion'],
    [65, 'bridge'],
    [1, 'transfer'],
  ])('reserve transfer with flags %i: %s', (flags, kind) => {
    expect(kindsOf(transfer(flags), coins)).toEqual([kind]);
  });

  test('kinds of several reserve transfers are listed once each, in order of outputs', () => {
    expect(kindsOf(transfer(65), transfer(3), transfer(515), transfer(33))).toEqual(['bridge', 'conversion', 'mint']);
  });

  test('an import that only continues a source system’s thread is not of kind import', () => {
    expect(kindsOf(make('crosschainimport', '{"flags":68}'))).toEqual(['transfer']);
    expect(kindsOf(make('crosschainimport', '{"flags":4}'))).toEqual(['import']);
  });

  test('the export inside an import from another chain is not an export of this chain', () => {
    expect(
      kindsOf(make('crosschainimport', '{"flags":4}'), make('crosschainexport', '{"flags":0,"transfers":[]}')),
    ).toEqual(['import']);
  });

  test('an update is a registration only when the reservation names its identity', () => {
    const identity = make('identityprimary', '{"identityaddress":"iA"}');
    const reservation = (id: string) => make('identityreservation', `{"nameid":"${id}"}`);
    expect(kindsOf(identity, reservation('iA'))).toEqual(['identity_registration']);
    expect(kindsOf(identity, reservation('iB'))).toEqual(['identity_update']);
  });

  test('a commitment in the first output is a name commitment, an empty one is an offer', () => {
    expect(kindsOf(make('commitmenthash', `{"hash":"${HASH}"}`, ['RX']))).toEqual(['name_commitment']);
    expect(kindsOf(coins, make('commitmenthash', `{"hash":"${HASH}"}`, ['RX']))).toEqual(['transfer']);
    expect(kindsOf(make('commitmenthash', `{"hash":"${NULL_HASH}"}`, ['RX']))).toEqual(['offer']);
    expect(kindsOf(make('commitmenthash', `{"hash":"${HASH}"}`, ['RX', 'RY', 'iA']))).toEqual([
      'name_commitment',
      'offer',
    ]);
  });

  test('an identity that also pays the protocol’s own key is not an offer', () => {
    const tokenized = make('identityprimary', '{}', ['iA', 'RRw9rJMPwdNqC1wgXn5vryJwMDyBgpXjYT']);
    expect(kindsOf(tokenized)).toEqual(['identity_update']);
    expect(kindsOf(make('identityprimary', '{}', ['RX', 'iA']))).toEqual(['identity_update', 'offer']);
  });

  test('evidence counts as a notarization when it refers to an output', () => {
    const evidence = (txid: string) => make('notaryevidence', `{"output":{"txid":"${txid}","voutnum":0}}`);
    expect(kindsOf(evidence(HASH))).toEqual(['notarization']);
    expect(kindsOf(evidence(NULL_HASH))).toEqual(['transfer']);
    expect(kindsOf(make('earnednotarization', '{}'))).toEqual(['notarization']);
    expect(kindsOf(make('pbaasnotarization', '"invalid"'))).toEqual(['notarization']);
  });

  test('shielded counts for any pool, and comes after more specific kinds', () => {
    for (const pool of ['vShieldedSpend', 'vShieldedOutput', 'vjoinsplit']) {
      const shielded = { [pool]: [{}] };
      expect(transactionKinds(transaction('a', ['b:0'], [coins], shielded), ORDINARY)).toEqual(['shielded']);
      expect(transactionKinds(transaction('a', ['b:0'], [reserveOutput], shielded), ORDINARY)).toEqual([
        'transfer',
        'shielded',
      ]);
    }
  });

  test('an object that could not be decoded has no kind', () => {
    expect(kindsOf(make('reservetransfer', '"invalid"'), make('crosschainimport', '"invalid"'))).toEqual(['transfer']);
  });
});
