import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodePart, placeOfPostgres, readServerAddress, withDatabase } from './server-address.ts';

const passwords = fc.string({ unit: fc.constantFrom(...'/?#@:%[], \\&=+aZ19'), minLength: 1, maxLength: 12 });
const schemes = fc.constantFrom('postgres', 'postgresql', 'http', 'https');

it('reads a bare password exactly or refuses the address, and reads any percent-encoded password', () => {
  const law = (scheme: string, password: string) => {
    const addressWith = (written: string) => `${scheme}://me:${written}@db.example:5433/stores`;
    const bare = readServerAddress(addressWith(password));
    if (bare && !password.includes('%')) expect(decodePart(bare.password)).toBe(password);
    const encoded = readServerAddress(addressWith(encodeURIComponent(password)));
    expect(encoded).toMatchObject({ host: 'db.example:5433', pathname: '/stores' });
    expect(decodePart(encoded?.password ?? '')).toBe(password);
  };
  fc.assert(fc.property(schemes, passwords, law));
});

it.each([
  'postgres://me:ab/cd@db:5432/stores',
  'postgres://me:12/cd@db:5432/stores',
  'postgres://me:12@34/cd@db:5432/stores',
  'postgres://me:@/cd@db:5432/stores',
  'postgres://me:?cd@db/stores',
  'postgres://me:#cd@db/stores',
  'postgres://me:pw@one:5432,two:5432/stores',
  'postgres://me:pw@one,two/stores',
  'http://me:pw@/stores',
  'http://me:12\\cd@db:8123/stores',
  'http://db:81234',
])('refuses the address %s', (address) => {
  expect(readServerAddress(address)).toBeNull();
  expect(placeOfPostgres(address)).not.toContain('cd');
  expect(() => withDatabase(address, 'other')).toThrow(/^The address of the store cannot be read$/);
});

it.each([
  ['postgres://me:p%2Fw@db/stores?sslmode=require', 'postgres://me:p%2Fw@db/other?sslmode=require', 'db:5432/stores'],
  ['postgres://me:pw@/stores?host=/run/pg', 'postgres://me:pw@/other?host=/run/pg', '/run/pg:5432/stores'],
  ['postgres://me:pw@%2Frun%2Fpg:5433/stores', 'postgres://me:pw@%2Frun%2Fpg:5433/other', '/run/pg:5433/stores'],
  ['postgres:///stores?host=/run/pg', 'postgres:///other?host=/run/pg', '/run/pg:5432/stores'],
  ['postgres://[::1]:5433/stores', 'postgres://[::1]:5433/other', '[::1]:5433/stores'],
])('replaces the database in %s', (address, other, place) => {
  expect(withDatabase(address, 'other')).toBe(other);
  expect(placeOfPostgres(address)).toBe(place);
});
