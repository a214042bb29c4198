/** Accessibility of a page as axe-core sees it. Its source is evaluated, since the page's policy allows no script from elsewhere. */
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
 * Serious and critical ones; every one is printed with the name. The context bypasses the policy.
 * @param rules `of colours` are those whose outcome another theme of the same document may change
 */
export async function seriousViolations(page: Page, name: string, rules: 'all' | 'of colours' = 'all') {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const violations = rules === 'all' ? await violationsOf(page) : await violationsOfColours(page);
  for (const { id, impact, first } of violations) console.log(`axe: ${name} ${impact} ${id} ${first}`);
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/** Contrast is measured once or twice for each look, links in all texts: a text around a link is no part of its look. */
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
      // What holds is not described node by node.
      const options = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
      const { violations } = await axe.run(context, options);
      return violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
    },
    { rule, within },
  );
}
