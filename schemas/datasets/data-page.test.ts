import { expect, it } from 'vitest';
import { dataPage } from './data-page.ts';
import { DATASET_TABLES } from './tables.ts';

it('docs/data.md is the page of the tables', async () => {
  await expect(dataPage()).toMatchFileSnapshot('../../docs/data.md');
});

it('a column has one name, and each of the order is a column of the store', () => {
  for (const { name, columns } of DATASET_TABLES) {
    const names = columns.map((column) => column.name);
    expect(new Set(names).size, name).toBe(names.length);
    expect(
      columns.filter(({ text }) => text === ''),
      name,
    ).toEqual([]);
  }
});
