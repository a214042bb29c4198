/** Identities of a generated chain with names and content that software trips over: every path that reads them answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChainDaemon, startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import { createClient } from './client.ts';
import { CHAIN, type RunningService, startServiceOn } from './running-service.ts';

const BLOCKS = 300;
const NUL = '\0';

let service: RunningService<ChainDaemon>;
const client = createClient(() => service.url);

interface Listed {
  readonly identityAddress: string;
  readonly status: string;
}
let identities: readonly Listed[];

beforeAll(async () => {
  const chain = { seed: SEED, addresses: 30, transactions: 6, mix: EVERYTHING };
  service = await startServiceOn(await startChainDaemon(chain, BLOCKS));
  await service.settled();
  identities = await client.walk('/api/identity/', 200);
});

afterAll(() => service?.stop());

describe('identities with hostile content', () => {
  it('are counted', async () => {
    let withContent = 0;
    for (const { identityAddress } of identities) {
      const { contentmultimap } = await client.json(`/api/identity/${identityAddress}/multimap`);
      if (Object.keys(contentmultimap).length > 0) withContent += 1;
    }
    expect(withContent).toBeGreaterThan(5);
    const { chains } = await client.json('/api/identity/stats');
    const ofStatus = (status: string) => identities.filter((identity) => identity.status === status).length;
    expect(chains[CHAIN]).toMatchObject({ total: identities.length, withContent, revoked: ofStatus('revoked') });
  });

  it('show each update with its fields, and their content as it is', async () => {
    const events = await client.walk('/api/identity/events', 200);
    let withNul = 0;
    for (const { identityAddress } of identities) {
      const updates = await client.json(`/api/identity/${identityAddress}/changes`);
      const fields = updates.map(({ changes }: { changes: { field: string }[] }) => changes.map(({ field }) => field));
      const ofIdentity = events.filter((event) => event.identityAddress === identityAddress);
      expect(ofIdentity.map((event) => event.fields)).toEqual(fields);
      const { decoded } = await client.json(`/api/identity/${identityAddress}/multimap?mode=aggregate`);
      if (
        Object.values(decoded)
          .flat()
          .some((value) => typeof value === 'string' && value.includes(NUL))
      )
        withNul += 1;
    }
    expect(withNul).toBeGreaterThan(0);
  });
});
