/** The whole service on the recording, and a second process with an API on the same Postgres that caches no answers. */
import { startService } from '../../test/api/running-service.ts';

export interface ReportedService {
  readonly url: string;
  readonly forgetfulUrl: string;
  /** Key of a caller whose allowance is never used up. */
  readonly key: string;
  readonly creditsPerMinute: number;
  readonly databaseUrl: string;
}

const service = await startService();
await service.settled(true);
const key = await service.issueKey('pro');
const forgetful = await service.startSecondApi({ keptBytes: 0 });
const report: ReportedService = {
  url: service.url,
  forgetfulUrl: `http://127.0.0.1:${forgetful.port}`,
  key,
  creditsPerMinute: service.context.config.tiers.pro.creditsPerMinute,
  databaseUrl: service.stores.databaseUrl,
};
// On SIGTERM the stores would stop at once.
process.once('SIGINT', async () => {
  await forgetful.close();
  await service.stop();
  process.exit();
});
process.send?.(report);
