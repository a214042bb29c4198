/** Currency names in filters mean the same as on REST paths; an unknown name means every currency that may get it. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { nameToAddress } from '../../domain/names.ts';
import { chainConfig } from '../../test/laws/replay.ts';
import { createCurrencyDirectory } from '../state/currency-directory.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { filterSize } from './filter-size.ts';
import { createNames, type Names } from './names.ts';

const chains = [
  ['vrsc', 'VRSC', 'VRSC'],
  ['varrr', 'vARRR', 'VRSC'],
  ['vrsctest', 'VRSCTEST', 'VRSCTEST'],
].map(([name = '', rootCurrency = '', networkRoot = '']) => ({ ...chainConfig(name), rootCurrency, networkRoot }));
const id = (name: string, root = 'VRSC') => nameToAddress(name, root) ?? '';
const defined = (chain: string, fullyQualifiedName: string, currencyId = id(fullyQualifiedName)) => ({
  chain,
  currencyId,
  name: fullyQualifiedName.split('.')[0],
  fullyQualifiedName,
  type: 'token',
  options: 32,
  systemId: id('VRSC'),
  parent: id('VRSC'),
});

let rows: object[];
let tag: string;
let reads: number;
let names: Names;
beforeEach(() => {
  rows = [];
  tag = 'first';
  reads = 0;
  const state = () => ({ tag }) as ServiceState;
  names = createNames({
    chains,
    currencies: createCurrencyDirectory(chains),
    watch: {
      get state() {
        return state();
      },
    },
    withSnapshot: async (work) => {
      reads += 1;
      return work({ state: state(), rows: async () => rows } as unknown as Snapshot);
    },
  });
});

async function define(...more: object[]): Promise<void> {
  rows = [...rows, ...more];
  tag = `${rows.length}`;
  await names.refresh();
}

it.each(['currency', 'basket'] as const)(
  'a name in list %s is that of the bridged currency if no other currency has it',
  async (list) => {
    await define(defined('vrsc', 'DAI.vETH'), defined('vrsctest', 'DAI.vETH', id('DAI.vETH', 'VRSCTEST')));
    const both = [id('DAI.vETH'), id('DAI.vETH', 'VRSCTEST')];
    for (const name of ['DAI', 'dai', 'DAI.vETH']) expect(names.idsOf(name, list)).toEqual(both);
    await define(defined('vrsc', 'DAI'));
    // On the other network the name finds the currency of the first network, so the other network's own currencies are open.
    expect(names.idsOf('DAI', list)).toEqual([id('DAI'), id('DAI', 'VRSCTEST'), both[1]]);
    expect(names.idsOf(id('DAI.vETH'), list)).toEqual([id('DAI.vETH')]);
  },
);

it('a name means each currency that may get it until one of them is defined', async () => {
  const unknown = ['VRSC', 'VRSCTEST'].flatMap((root) => [id('DAI', root), id('DAI.vETH', root)]);
  expect(names.idsOf('DAI', 'currency')).toEqual(unknown); // before the first refresh, too
  await define();
  expect(names.idsOf('DAI', 'currency')).toEqual(unknown);
  await define(defined('vrsc', 'DAI.vETH'));
  expect(names.idsOf('DAI', 'currency')).toEqual([id('DAI.vETH'), ...unknown.slice(2)]);
});

it('a currency is found by its first label alone if there is only one such currency', async () => {
  await define(defined('varrr', 'Gold.vARRR'));
  expect(names.idsOf('gold', 'currency')).toContain(id('Gold.vARRR'));
});

it('a name of an identity or an address is not that of a currency', async () => {
  await define(defined('vrsc', 'DAI.vETH'));
  for (const list of ['identity', 'address'] as const)
    expect(names.idsOf('DAI', list)).toEqual(['DAI', id('DAI'), id('DAI', 'VRSCTEST')]);
});

it('the version changes only if a name may mean another currency, and the directory is read once per state', async () => {
  await define(defined('vrsc', 'DAI.vETH'));
  expect(names.refresh()).toBeNull();
  const version = names.version();
  await define();
  expect([names.version(), reads]).toEqual([version, 1]);
  tag = 'moved on';
  await names.refresh();
  expect([names.version(), reads]).toEqual([version, 2]);
  await define(defined('vrsc', 'MKR.vETH'));
  expect(names.version()).not.toBe(version);
});

it('a name is hashed once, not again for each directory', async () => {
  const hash = vi.spyOn(crypto, 'hash');
  syncBuiltinESMExports();
  onTestFinished(() => {
    hash.mockRestore();
    syncBuiltinESMExports();
  });
  const hashes = () => hash.mock.calls.filter(([, bytes]) => bytes.toString() === 'unheard').length;
  const open = names.idsOf('Unheard', 'currency');
  expect(hashes()).toBe(4); // below each root, with the suffix and without
  await define(defined('vrsc', 'MKR.vETH'));
  expect(names.idsOf('Unheard', 'currency')).toEqual(open);
  await define(defined('vrsc', 'Unheard.vETH', open[1]));
  expect(names.idsOf('Unheard', 'currency')).toEqual([open[1], open[2], open[3]]);
  expect(hashes()).toBe(4);
});

it('a name that no chain has is unknown, with similar names as suggestions', async () => {
  await define(defined('vrsc', 'DAI.vETH'));
  expect(names.unknownCurrency('dai')).toBeNull();
  expect(names.unknownCurrency('DAY.vETH')).toEqual({ suggestions: ['DAI.vETH'] });
});

it('the name of a currency counts as two names in the work of a filter, its address as one', () => {
  const work = (list: 'currency' | 'identity', entry: string) => filterSize({ [list]: entry }).work;
  expect([work('identity', 'DAI'), work('currency', 'DAI'), work('currency', 'DAI.vETH')]).toEqual([2, 5, 7]);
  expect(work('currency', id('DAI.vETH'))).toBe(2);
});
