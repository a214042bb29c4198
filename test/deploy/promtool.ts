/** Runs promtool with the deployment's rules. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from '../house/source-files.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';
import type { AlertFault } from './alert-faults.ts';
import { textOf } from './compose-file.ts';
import { type Scraped, STEP_SECONDS, seriesOf } from './scraped-series.ts';

export const RULES = 'infra/deploy/prometheus/alerts.yml';
/** Without a fault, this alert only shows how busy the machine is. */
const LATENCY = 'Latency';
/** Longer than the longest time before a rule fires; promtool's run time grows with this span. */
const LOOKED_AT = '29m';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

export interface FiringAlerts {
  readonly fault: AlertFault;
  readonly scraped: readonly Scraped[];
}

const file = parse(textOf(RULES)) as RuleFile;
export const rules = file.groups.flatMap((group) => group.rules);

/** Returns promtool's complaints, or an empty string. */
export function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** Tests that exactly the alerts of the table fire. Returns the differences, or an empty string. */
export function testFires(shown: readonly FiringAlerts[]): string {
  return testRules(join(ROOT, RULES), shown, ({ fires }) => fires);
}

/** Tests that, without the clauses that suppress alerts, exactly the suppressed alerts of the table fire as well. */
export function testLeftOut(shown: readonly FiringAlerts[]): string {
  const groups = file.groups.map((group) => ({ ...group, rules: group.rules.map(alone) }));
  const path = join(temporaryFolder(), 'alerts.yml');
  writeFileSync(path, stringify({ groups }));
  return testRules(path, shown, ({ fires, leftOut }) => [...fires, ...leftOut]);
}

const alone = (rule: AlertRule): AlertRule => ({ ...rule, expr: rule.expr.replace(/\s+unless on [\s\S]*$/, '') });

function testRules(
  path: string,
  shown: readonly FiringAlerts[],
  expected: (fault: AlertFault) => readonly string[],
): string {
  const tests = shown.map(({ fault, scraped }) => ({
    name: fault.name,
    interval: `${STEP_SECONDS}s`,
    input_series: Object.entries(seriesOf(scraped, textOf(RULES), fault.chain)).map(([series, values]) => ({
      series,
      values,
    })),
    promql_expr_test: [
      {
        expr: `group by (alertname) (ALERTS{alertstate="firing"${expected(fault).includes(LATENCY) ? '' : `, alertname!="${LATENCY}"`}})`,
        eval_time: LOOKED_AT,
        exp_samples: expected(fault).map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  }));
  const cases = join(temporaryFolder(), 'alerts.test.yml');
  writeFileSync(cases, stringify({ rule_files: [path], evaluation_interval: `${STEP_SECONDS}s`, tests }));
  return promtool('test', 'rules', cases);
}
