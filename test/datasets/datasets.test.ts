/** One service on the recording and one export of it, for all tests that only read them: docs/decisions/0111-cpu-of-the-tests.md */
import { afterAll, beforeAll } from 'vitest';
import { openDuckDb } from '../support/datasets/duckdb.ts';
import { datasetEqualsApi } from './equality.ts';
import { type OpenedDataset, startExportedService } from './exported-service.ts';
import { datasetIsRead } from './reading.ts';
import { sqlConforms } from './sql.ts';

let opened: OpenedDataset;

beforeAll(async () => {
  const service = await startExportedService();
  opened = { service, duckdb: await openDuckDb() };
  await service.settled(true);
  await service.exported();
});
afterAll(async () => {
  opened?.duckdb.close();
  await opened?.service.stop();
});

datasetEqualsApi(() => opened);
sqlConforms(() => opened);
datasetIsRead(() => opened);
