/** The identity that a name means, on the root of a network and on a chain that it launched. */

import { beforeAll, expect, it } from 'vitest';
import { findIdentity } from '../../api/state/identity-names.ts';
import { nameToAddress } from '../../domain/names.ts';
import { factsByType } from '../../pipeline/sinks/facts-by-type.ts';
import { writeFacts } from '../../pipeline/sinks/postgres/postgres-sink.ts';
import { chainConfig } from '../laws/replay.ts';
import { poolRows } from '../support/api/pool-rows.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { blockOf, identity } from '../support/pipeline/sinks/made-facts.ts';

const id = (name: string): string => nameToAddress(name, 'VRSCTEST') ?? '';
const pchain = { ...chainConfig('pchain'), rootCurrency: 'pchain' };
const root = chainConfig('root');

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
  const known = {
    pchain: ['alice', 'alice.pchain', 'bob', 'carol.pchain', 'dan.pchain', 'dan.Bridge.pchain', 'Émile.pchain'],
    root: ['alice', 'sub.alice', 'both.alice', 'both.bob', 'café ☕'],
  };
  for (const [chain, names] of Object.entries(known)) {
    const facts = names.map((name, index) => ({ ...identity(id(name), index), name: name.split('.')[0] ?? '' }));
    await stores.postgres.transaction((client) => writeFacts(client, chain, factsByType([blockOf(1, facts)])));
  }
  return () => stores.close();
});

function find(chain: typeof root, text: string): Promise<string | null> {
  return findIdentity(poolRows(stores.postgres), chain, text);
}

it.each([
  ['alice@', 'alice', 'as the daemon reads it: below the root of the network'],
  ['alice.VRSCTEST@', 'alice', 'with that root written out'],
  ['alice.pchain@', 'alice.pchain', 'below the chain'],
  ['alice', 'alice.pchain', 'a bare name is first the chain’s own'],
  ['bob', 'bob', 'then one of the root'],
  ['BOB@', 'bob', 'in any ASCII case'],
  ['carol@', 'carol.pchain', 'a name that the daemon would not find counts if it is the only one'],
  ['CAROL', 'carol.pchain', 'in any ASCII case there too'],
  ['Émile', 'Émile.pchain', 'other letters as they are'],
])('on a launched chain %s is %s: %s', async (text, name) => {
  expect(await find(pchain, text)).toBe(id(name));
});

it.each(['dan@', 'carol.bob@', 'émile', 'nobody', '', '@', 'carol.', 'a/b'])(
  'on a launched chain no identity is %j',
  async (text) => {
    expect(await find(pchain, text)).toBeNull();
  },
);

it.each([
  ['alice', 'alice'],
  ['sub.alice@', 'sub.alice'],
  ['sub', 'sub.alice'],
  ['CAFé ☕@', 'café ☕'],
])('on the root %s is %s', async (text, name) => {
  expect(await find(root, text)).toBe(id(name));
});

it('a name that exists below two parents means no identity', async () => {
  expect(await find(root, 'both')).toBeNull();
});

it('an i-address that the chain does not know is no identity', async () => {
  expect(await find(root, id('carol.pchain'))).toBeNull();
  expect(await find(pchain, id('carol.pchain'))).toBe(id('carol.pchain'));
});
