/** Starts a service whose identities sign with the tests' own keys, and a browser, once for all account tests. */
import type { Browser } from 'playwright-core';
import { pageSource } from '../../../web/build/page-source.ts';
import { startBrowser } from '../../api/browser.ts';
import { type IdentityDaemon, type OwnIdentity, startIdentityDaemon } from '../../api/generated-identities.ts';
import { type RunningService, startServiceOn } from '../../api/running-service.ts';
import { SEED } from '../../setup/seed.ts';

/** Credits per minute. */
export const FREE_CREDITS = 1_000;
export const PRO_CREDITS = 5_000;
/** A chain without a daemon; tests put its identities directly into the stores. */
export const OTHER_CHAIN = 'other';

/** One identity for each part of the tests, so that their keys, credits and webhooks do not interfere. */
export interface OwnIdentities {
  readonly alice: OwnIdentity;
  /** Two of its three keys must sign. */
  readonly bob: OwnIdentity;
  readonly viewer: OwnIdentity;
  readonly spender: OwnIdentity;
  readonly subscriber: OwnIdentity;
}

export interface OpenedAccount {
  readonly service: RunningService<IdentityDaemon>;
  readonly browser: Browser;
  readonly identities: OwnIdentities;
}

export async function openAccount(): Promise<OpenedAccount & { stop(): Promise<void> }> {
  await pageSource.build(); // cached, so that the service has the page at once
  const node = await startIdentityDaemon(SEED, [{}, { keys: 3, minimum: 2 }, {}, {}, {}]);
  const [alice, bob, viewer, spender, subscriber] = node.identities;
  if (!alice || !bob || !viewer || !spender || !subscriber) throw new Error('the chain has too few identities');
  const service = await startServiceOn(node, {
    page: pageSource,
    limits: {
      tiers: {
        free: { creditsPerMinute: FREE_CREDITS },
        developer: { creditsPerMinute: 2_000 },
        pro: { creditsPerMinute: PRO_CREDITS },
      },
      keylessRequestsPerMinute: 1e9,
    },
    silentChains: [OTHER_CHAIN],
    webhooks: { delaysMs: [50], timeoutMs: 5_000 },
  });
  const browser = await startBrowser();
  await service.settled();
  return {
    service,
    browser,
    identities: { alice, bob, viewer, spender, subscriber },
    async stop() {
      await browser.close();
      await service.stop();
    },
  };
}
