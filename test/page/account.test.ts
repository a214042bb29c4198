/** The page for those who log in, in a real Chromium: one service and one browser for all of it. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { whyNoBrowser } from '../api/browser.ts';
import { accountViews } from './account/account-views.ts';
import { loginAndKeys } from './account/login-and-keys.ts';
import { openAccount } from './account/opened-account.ts';
import { viewOfUsage } from './account/usage.ts';
import { webhooksOnThePage } from './account/webhooks.ts';

if (whyNoBrowser) it('the page of an account', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('logged in,', () => {
  let account: Awaited<ReturnType<typeof openAccount>>;

  beforeAll(async () => {
    account = await openAccount();
  });

  afterAll(() => account?.stop());

  loginAndKeys(() => account);
  accountViews(() => account);
  viewOfUsage(() => account);
  webhooksOnThePage(() => account);
});
