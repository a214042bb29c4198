/** Checks the accessibility of a page with axe-core. Its source is evaluated, because the page's policy allows no foreign scripts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { markLooks, OF_A_LOOK } from './looks.ts';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly first: string | undefined;
}

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns serious and critical violations; prints all of them with the name. The context bypasses the page's policy.
 * @param rules `of colours`: only the rules whose outcome may change with the theme of the same document
 */
export async function seriousViolations(page: Page, name: string, rules: 'all' | 'of colours' = 'all') {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const violations = rules === 'all' ? await violationsOf(page) : await violationsOfColours(page);
  for (const { id, impact, first } of violations) console.log(`axe: ${name} ${impact} ${id} ${first}`);
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/**
 * Measures the contrast of texts once or twice per look, but links in all texts, because the text around a link is not part of its look.
 */
async function violationsOfColours(page: Page): Promise<Violation[]> {
  await markLooks(page);
  const ofTexts = await violationsOf(page, 'color-contrast', `[${OF_A_LOOK}]`);
  return [...ofTexts, ...(await violationsOf(page, 'link-in-text-block'))];
}

function violationsOf(page: Page, rule?: string, within?: string): Promise<Violation[]> {
  return page.evaluate(
    async ({ rule, within }) => {
      interface Found {
        readonly id: string;
        readonly impact: string;
        readonly nodes: readonly { readonly html: string }[];
      }
      interface Axe {
        run(context: object, options: object): Promise<{ violations: readonly Found[] }>;
      }
      const { axe } = globalThis as unknown as { axe: Axe };
      const context = within === undefined ? document : { include: [within] };
      // Leaves out details of rules that pass.
      const options = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
      const { violations } = await axe.run(context, options);
      return violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
    },
    { rule, within },
  );
}
