/** Starts the embedded Postgres of a folder and stops it, in a separate process that a test may kill. */
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../../../../infra/postgres/embedded/embedded.ts';

const server = await startEmbeddedPostgres(process.argv[2] ?? '', pino({ level: 'silent' }));
await server.stop();
