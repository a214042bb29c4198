import { describe, expect, it } from 'vitest';
import { missingMigrations } from './migrations.ts';

describe.each(['postgres', 'clickhouse'] as const)('the migrations of %s', (store) => {
  it('to apply are those that the store lacks, in order', async () => {
    const all = await missingMigrations(store, []);
    expect(all.length).toBeGreaterThan(6);
    expect(await missingMigrations(store, all.slice(0, 3))).toEqual(all.slice(3));
    expect(await missingMigrations(store, all)).toEqual([]);
  });

  it('refuse a store that a newer version changed or that other files built', async () => {
    const all = await missingMigrations(store, []);
    const newer = { name: '9999-of-tomorrow.sql', sha256: 'ab' };
    await expect(missingMigrations(store, [...all, newer])).rejects.toMatchObject({
      code: 'stores_newer',
      message: expect.stringContaining(newer.name),
    });
    const other = all.map((one, index) => (index === 1 ? { ...one, sha256: 'ab' } : one));
    await expect(missingMigrations(store, other)).rejects.toMatchObject({ code: 'migration_changed' });
  });
});
