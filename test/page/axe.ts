/** Accessibility of a page as axe-core sees it. Its source is evaluated, since the page's policy allows no script from elsewhere. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules whose outcome another theme of the same document may change. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Serious and critical ones; every one is printed with the name. The context bypasses the policy. */
export async function seriousViolations(page: Page, name: string, rules: 'all' | 'of colours' = 'all') {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(
    async (only) => {
      interface Axe {
        run(options: { resultTypes: string[]; runOnly?: string[] }): Promise<{ violations: Violation[] }>;
      }
      const { axe } = globalThis as unknown as { axe: Axe };
      // What holds is not described node by node.
      const found = await axe.run({ resultTypes: ['violations'], ...(only && { runOnly: only }) });
      return found.violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
    },
    rules === 'all' ? null : OF_COLOURS,
  );
  for (const { id, impact, first } of violations) console.log(`axe: ${name} ${impact} ${id} ${first}`);
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}
