/** Helpers for logged-in readers: login by a signature of the tests' own keys, and a search for traces of secrets in the browser. */
import type { Page, Request } from 'playwright-core';
import type { OwnIdentity } from '../../api/generated-identities.ts';

/** Logs in with the form of the open login page. `sign` may sign a different message. */
export async function logIn(
  page: Page,
  identity: Pick<OwnIdentity, 'address' | 'sign'>,
  pasted = (signature: string) => signature,
): Promise<void> {
  await page.getByRole('textbox', { name: 'Identity' }).fill(identity.address);
  await page.getByRole('button', { name: 'Get a challenge' }).click();
  const command = await page.getByRole('textbox', { name: 'Command' }).inputValue();
  const [, address, message = ''] = /^signmessage "(\w+)" "([^"]*)"$/.exec(command) ?? [];
  if (address !== identity.address) throw new Error(`the command is for ${address}`);
  await page.getByRole('textbox', { name: 'Signature' }).fill(pasted(await identity.sign(message)));
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
}

/** Places in the browser, the document and the requests that contain one of the secrets. */
export async function tracesOf(page: Page, requests: readonly Request[], secrets: readonly string[]) {
  const places = await page.evaluate(async () => {
    const databases = (await indexedDB.databases()).map(({ name }) => String(name));
    const cached: string[] = [];
    for (const name of await caches.keys().catch(() => [])) cached.push(name);
    return {
      document: document.documentElement.outerHTML,
      values: [...document.querySelectorAll('input, textarea')].map((field) => String(Reflect.get(field, 'value'))),
      sessionStorage: JSON.stringify({ ...sessionStorage }),
      localStorage: JSON.stringify({ ...localStorage }),
      cookies: document.cookie,
      databases,
      cached,
      history: [location.href, JSON.stringify(history.state), document.title, name],
      loads: performance.getEntries().map((entry) => entry.name),
    };
  });
  const urls = requests.map((request) => request.url());
  const all = Object.entries({ ...places, urls });
  return all
    .filter(([, held]) => secrets.some((secret) => JSON.stringify(held).includes(secret)))
    .map(([place]) => place);
}
