import { expect, it } from 'vitest';
import { readMigrations } from '../../infra/migrations.ts';

it.each(['postgres', 'clickhouse'] as const)(
  'migrations of %s are numbered without gap or repetition',
  async (store) => {
    const numbers = (await readMigrations(store)).map(({ name }) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  },
);
