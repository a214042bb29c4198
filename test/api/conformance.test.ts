/** The whole recording over HTTP, compared with the daemon's own answers and with the numbers of an independent program. */
import { afterAll, beforeAll } from 'vitest';
import { conformanceTable, createClient } from './client.ts';
import { addressesConform } from './conformance/addresses.ts';
import { analystsConform } from './conformance/analysts.ts';
import { answersConform } from './conformance/answers.ts';
import { blocksConform } from './conformance/blocks.ts';
import { conversionsConform } from './conformance/conversions.ts';
import { currenciesConform } from './conformance/currencies.ts';
import { documentationConforms } from './conformance/documentation.ts';
import { estimatesConform } from './conformance/estimates.ts';
import { hostileRequestsConform } from './conformance/hostile-requests.ts';
import { identitiesConform } from './conformance/identities.ts';
import { jsonRpcConforms } from './conformance/json-rpc.ts';
import { listsConform } from './conformance/lists.ts';
import { marketConform } from './conformance/market.ts';
import { mempoolConforms } from './conformance/mempool.ts';
import { namesConform } from './conformance/names.ts';
import { oracleConform } from './conformance/oracle.ts';
import { reprocessConforms } from './conformance/reprocess.ts';
import { roundTripsConform } from './conformance/round-trips.ts';
import { statisticsConform } from './conformance/statistics.ts';
import { stockClientsWork } from './conformance/stock-clients.ts';
import { streamsConform } from './conformance/streams.ts';
import { transactionsConform } from './conformance/transactions.ts';
import { wireConforms } from './conformance/wire.ts';
import { type RunningService, startService } from './running-service.ts';

let service: RunningService;
let key = '';
const client = createClient(
  () => service.url,
  () => key,
);

beforeAll(async () => {
  service = await startService();
  await service.settled();
  await service.settled(true);
  key = await service.issueKey('pro');
}, 600_000);

afterAll(async () => {
  console.log(conformanceTable());
  await service?.stop();
});

blocksConform(client);
transactionsConform(client);
addressesConform(client);
identitiesConform(client);
currenciesConform(client);
namesConform(client);
conversionsConform(client);
oracleConform(client);
marketConform(client);
estimatesConform(client);
mempoolConforms(client);
jsonRpcConforms(client);
wireConforms(() => service.url);
answersConform(client, () => service.url);
streamsConform(client);
roundTripsConform(() => service);
hostileRequestsConform(client, () => service);
documentationConforms(client, () => service.url);
stockClientsWork(() => service.port);
reprocessConforms(client, () => service);
listsConform(client);
analystsConform(client);
statisticsConform(client); // last: it also checks that no route was left out
