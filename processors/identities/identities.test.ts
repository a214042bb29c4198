import { describe, expect, test } from 'vitest';
import { identityStatus } from '../../domain/identity-status.ts';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { block, decodedAs, output, transaction } from '../../test/support/processors/blocks.ts';
import { foldPaired } from '../../test/support/processors/chain-pair.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { validateFacts } from '../faults/validate-facts.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveIdentities } from './identities.ts';

const ROOT = RECORDED_CHAIN.nativeCurrencyId;

interface Recorded {
  readonly id: string;
  readonly latest: { fullyqualifiedname: string; identity: object; blockheight: number; txid: string; vout: number };
  readonly history: { history: { identity: object; height: number; output: { txid: string; voutnum: number } }[] };
  readonly at: { height: number; result?: { identity: object }; error?: object }[];
}

describe('recorded', () => {
  const { all, derived, state } = foldRecording();
  const facts = all('identity');
  const historyOf = Map.groupBy(facts, ({ identityAddress }) => identityAddress);
  const known = recordedTruth<Recorded[]>('truth/identities.json.gz');

  test('every identity is derived, and no other', () => {
    expect(new Set(historyOf.keys())).toEqual(new Set(known.map(({ id }) => id)));
    expect(known).toHaveLength(27);
  });

  test('the latest state, its place and its full name are the daemon’s', () => {
    for (const { id, latest } of known) {
      const fact = state.identity(id);
      expect(fact?.state, id).toBe(stringifyExact(latest.identity));
      expect([fact?.txid, fact?.vout]).toEqual([latest.txid, latest.vout]);
      expect(`${fact?.fullyQualifiedName}@`).toBe(latest.fullyqualifiedname);
    }
  });

  test('the history has every state, in order', () => {
    let states = 0;
    for (const { id, history } of known) {
      const own = historyOf.get(id) ?? [];
      expect(own.map(({ height, txid, vout, state: text }) => [height, txid, vout, text])).toEqual(
        history.history.map(({ height, output: at, identity }) => [
          height,
          at.txid,
          at.voutnum,
          stringifyExact(identity),
        ]),
      );
      states += own.length;
    }
    expect(states).toBe(facts.length);
  });

  test('the state at every recorded height is the daemon’s', () => {
    let asked = 0;
    for (const { id, at } of known) {
      for (const { height, result } of at) {
        const then = (historyOf.get(id) ?? []).findLast((fact) => fact.height <= height);
        expect(then?.state, `${id}@${height}`).toBe(result && stringifyExact(result.identity));
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(200);
  });

  test('columns are the fields of the state', () => {
    for (const fact of facts) {
      expect(parseExact(fact.state)).toMatchObject({
        identityaddress: fact.identityAddress,
        name: fact.name,
        parent: fact.parent,
        flags: fact.flags,
        timelock: fact.timelock,
        revocationauthority: fact.revocationAuthority,
        recoveryauthority: fact.recoveryAuthority,
        primaryaddresses: fact.primaryAddresses,
        minimumsignatures: fact.minimumSignatures,
      });
    }
  });

  test('changes turn each state into the next', () => {
    for (const own of historyOf.values()) {
      expect(own[0]?.changes).toBe('[]');
      for (const [index, after] of own.entries()) {
        const before = own[index - 1];
        if (!before) continue;
        const patched = { ...(parseExact(before.state) as Record<string, unknown>) };
        for (const { field, old, new: now } of parseExact(after.changes) as {
          field: string;
          old: unknown;
          new: unknown;
        }[]) {
          expect(stringifyExact(patched[field] ?? null)).toBe(stringifyExact(old));
          expect(stringifyExact(now)).not.toBe(stringifyExact(old));
          if (now === null) delete patched[field];
          else patched[field] = now;
        }
        expect(patched).toEqual(parseExact(after.state));
      }
    }
  });

  test('the kinds of updates match the actions of the wallet', () => {
    const kinds = (name: string) => facts.filter((fact) => fact.name === name).map(({ kind }) => kind);
    expect(kinds('vault')).toEqual(['registered', 'locked', 'unlock_requested', 'locked', 'locked']);
    expect(kinds('ghost')).toEqual(['registered', 'revoked', 'recovered', 'other']);
    expect(kinds('frank')).toEqual(['registered', 'revoked']);
    expect(kinds('carol')).toEqual(['registered', 'keys_changed']);
    expect(kinds('dave')).toEqual(['registered', 'keys_changed', 'keys_changed']);
    expect(kinds('erin')).toEqual(['registered', 'authority_changed', 'content_updated', 'content_updated']);
    expect(kinds('bob')).toEqual(['registered', 'content_updated', 'content_updated', 'content_updated']);
    expect(kinds('alice')).toEqual(['registered', ...new Array(8).fill('content_updated')]);
    expect(kinds('Grace Hopper')).toEqual(['registered', 'other', 'keys_changed']);
    expect(kinds('café ☕')).toEqual(['registered', 'keys_changed']);
    const currencies = facts.filter(({ kind }) => kind === 'currency_defined').map(({ name }) => name);
    const { currencies: defined } = recordedTruth<{ currencies: Record<string, object> }>('truth/supply.json');
    expect(new Set([...currencies, 'VRSCTEST'])).toEqual(new Set(Object.keys(defined)));
  });

  test('later updates keep the referral and the height of the registration', () => {
    const referrals = new Map<string, string>();
    for (const { block: recorded } of derived) {
      for (const { scriptPubKey } of recorded.tx.flatMap(({ vout }) => vout)) {
        const reservation = scriptPubKey.identityreservation as { nameid: string; referral: string } | undefined;
        if (reservation) referrals.set(reservation.nameid, reservation.referral);
      }
    }
    for (const [id, own] of historyOf) {
      expect(new Set(own.map(({ referral }) => referral))).toEqual(new Set([referrals.get(id) || null]));
      expect(new Set(own.map(({ registeredHeight }) => registeredHeight))).toEqual(new Set([own[0]?.height]));
    }
    expect([...referrals.values()].filter((referral) => referral !== '')).toHaveLength(19);
  });
});

describe('recorded on a launched chain', () => {
  const fold = foldPaired('pchain');

  test('the identities of block 1 are those of its daemon', () => {
    const imported = fold.all('identity').filter(({ height }) => height === 1);
    const shown = imported.map(({ identityAddress, fullyQualifiedName, kind, referral, registeredHeight }) => [
      identityAddress,
      fullyQualifiedName,
      { kind, referral, registeredHeight },
    ]);
    const origin = { kind: 'registered', referral: null, registeredHeight: 1 };
    expect(shown).toEqual([
      ['i3bCS2hfQXktHXHmXEAxKPeby5cb6Px6Le', 'bob.VRSCTEST', origin],
      ['i5f5njYtso65186mo5WHMkRme9YG6hrZE2', 'alice.VRSCTEST', origin],
      ['iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk', 'Bridge.pchain.VRSCTEST', origin],
      ['iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV', 'pchain.VRSCTEST', origin],
    ]);
  });

  test('the currencies that block 1 defined', () => {
    const defined = fold.all('currency').map((fact) => [fact.fullyQualifiedName, fact.currencyType, fact.systemId]);
    expect(defined).toEqual([
      ['pchain', 'native', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV'],
      ['Bridge.pchain', 'basket', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV'],
      ['VRSCTEST', 'pbaas_chain', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'],
    ]);
  });
});

describe('made up', () => {
  const identity = (address: string, more = '') =>
    decodedAs('identityprimary', `{"identityaddress":"${address}","name":"x","parent":"${ROOT}","flags":0${more}}`, [
      address,
    ]);
  const derive = (...scripts: string[]) => {
    const made = block(
      5,
      scripts.map((script, index) => transaction(`t${index}`, [], [output(0, '0', script)])),
    );
    return deriveIdentities({ block: made, clock: 0 }, createMemoryState(RECORDED_CHAIN));
  };

  test('the second of two updates in one block is compared with the first', () => {
    const [first, second] = derive(identity('iA'), identity('iA', ',"privateaddress":"zs1"'));
    expect(first).toMatchObject({ kind: 'registered', changes: '[]', registeredHeight: 5, txIndex: 0 });
    expect(second).toMatchObject({ kind: 'other', registeredHeight: 5, txIndex: 1 });
    expect(second?.changes).toBe('[{"field":"privateaddress","old":null,"new":"zs1"}]');
  });

  test('the first state of an identity without a reservation registers it', () => {
    expect(derive(identity('iA'))[0]).toMatchObject({ kind: 'registered', referral: null });
  });

  test('content that is first printed empty was not updated', () => {
    const content = (text: string) => identity('iA', `,"version":3,"contentmultimap":${text}`);
    const updates = derive(identity('iA', ',"version":2'), content('{}'), content('{"iK":["00"]}'), content('{}'));
    expect(updates.map(({ kind }) => kind)).toEqual(['registered', 'other', 'content_updated', 'content_updated']);
    expect(JSON.parse(updates[1]?.changes ?? '')).toContainEqual({ field: 'contentmultimap', old: null, new: {} });
  });

  const stored = (name: string, flags: number) => {
    const object =
      `{"version":3,"flags":${flags},"primaryaddresses":["RA"],"minimumsignatures":1,"name":${name},"identityaddress":"iA",` +
      `"parent":"${ROOT}","revocationauthority":"iR","recoveryauthority":"iR","timelock":0}`;
    const [fact] = derive(decodedAs('identityprimary', object, ['iA']));
    if (!fact) throw new TypeError('no fact');
    validateFacts([{ ...fact, txid: '00' }]);
    return fact;
  };

  test('a name may contain a NUL, which the stores cannot keep, and a state keeps it as it is printed', () => {
    const fact = stored('"alice\\u0000hidden"', 0x8000);
    expect(fact).toMatchObject({
      name: 'alice\ufffdhidden',
      fullyQualifiedName: 'alice\ufffdhidden.VRSCTEST',
      flags: 0x8000,
    });
    expect(fact.state).toContain('"name":"alice\\u0000hidden"');
  });

  test('flags have no sign, although the daemon prints one for a set highest bit', () => {
    expect(stored('"x"', -0x8000_0000 + 2).flags).toBe(2);
  });

  test('a timelock from 2^31, which the daemon prints with a sign, locks as long as it does on the chain', () => {
    const [, dated] = derive(identity('iA', ',"timelock":400'), identity('iA', ',"timelock":-2147483648'));
    expect(dated).toMatchObject({ timelock: 2 ** 31, kind: 'locked' });
    expect(identityStatus(0, BigInt(dated?.timelock ?? 0), 500)).toBe('unlocking');
    expect(dated?.state).toContain('"timelock":-2147483648');
  });

  test('an identity that could not be decoded has no state', () => {
    expect(derive(decodedAs('identityprimary', '"invalid"'))).toEqual([]);
  });
});
