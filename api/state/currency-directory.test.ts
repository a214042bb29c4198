import { expect, it } from 'vitest';
import { nameToAddress } from '../../domain/names.ts';
import { chainConfig } from '../../test/laws/replay.ts';
import { createCurrencyDirectory } from './currency-directory.ts';
import type { Snapshot } from './snapshot.ts';

const id = (name: string) => nameToAddress(name, 'VRSC') ?? '';
const chains = ['VRSC', 'vARRR', 'vDEX'].map((rootCurrency) => ({
  ...chainConfig(rootCurrency.toLowerCase()),
  rootCurrency,
  networkRoot: 'VRSC',
}));

const defined = (chain: string, name: string, systemId: string, parent: string) => ({
  chain,
  currencyId: id(name),
  name: name.split('.')[0],
  fullyQualifiedName: name,
  type: 'token',
  options: 32,
  systemId,
  parent,
});

async function homesOf(rows: readonly object[]) {
  const read = { state: { tag: 't' }, rows: async () => rows } as unknown as Snapshot;
  const currencies = await createCurrencyDirectory(chains).of(read);
  return [...currencies.all()].map(({ fullyQualifiedName, chain }) => `${fullyQualifiedName} ${chain}`).sort();
}

it('the home of a currency is its system, of a bridged one the chain of the gateway, else the first configured chain', async () => {
  const rows = [
    defined('varrr', 'Bridge.vETH', id('VRSC'), id('vETH')),
    defined('varrr', 'Exported', id('VRSC'), id('VRSC')),
    defined('varrr', 'Orphan', id('nobody'), id('nobody')),
    defined('vdex', 'Bridge.vDEX', id('vDEX'), id('vDEX')),
    defined('vdex', 'DAI.vETH', id('vETH'), id('vETH')),
    defined('vrsc', 'Bridge.vDEX', id('vDEX'), id('vDEX')),
    defined('vrsc', 'Bridge.vETH', id('VRSC'), id('vETH')),
    defined('vrsc', 'DAI.vETH', id('vETH'), id('vETH')),
    defined('vrsc', 'Exported', id('VRSC'), id('VRSC')),
    defined('vrsc', 'Orphan', id('nobody'), id('nobody')),
    defined('vrsc', 'vETH', id('vETH'), id('VRSC')),
  ];
  const homes = [
    'Bridge.vDEX vdex',
    'Bridge.vETH vrsc',
    'DAI.vETH vrsc',
    'Exported vrsc',
    'Orphan vrsc',
    'VRSC vrsc',
    'vARRR varrr',
    'vDEX vdex',
    'vETH vrsc',
  ];
  expect(await homesOf(rows)).toEqual(homes);
});
