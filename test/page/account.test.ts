/** The account pages in a real Chromium; all tests share one service and one browser. */
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
