import { expect, it } from 'vitest';
import { dataPage } from '../../test/support/datasets/data-page.ts';
import { DATASET_TABLES } from './tables.ts';

it('docs/data.md is what the tables generate', async () => {
  await expect(dataPage()).toMatchFileSnapshot('../../docs/data.md');
});

it('column names are unique, and every column has a text', () => {
  for (const { name, columns } of DATASET_TABLES) {
    const names = columns.map((column) => column.name);
    expect(new Set(names).size, name).toBe(names.length);
    expect(
      columns.filter(({ text }) => text === ''),
      name,
    ).toEqual([]);
  }
});
