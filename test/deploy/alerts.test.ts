/** Every alert fires on its faults and on no other, by promtool; each has its section in the runbook. */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { registry } from '../../infra/metrics.ts';
import { ROOT } from '../house/source-files.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';
import { ALERT_FAULTS } from './alert-faults.ts';
import { textOf } from './compose-file.ts';
import { isInstalled } from './topology.ts';

const RULES = 'infra/deploy/prometheus/alerts.yml';
const LOOKED_AT = '59m';

interface Rule {
  readonly alert: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const rules = (parse(textOf(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const names = rules.map(({ alert }) => alert).sort();

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return status === 0 ? 'passed' : `${stdout}${stderr}`;
}

describe('the alerts', () => {
  it('each fire on a fault, and each has its section in the runbook', () => {
    expect([...new Set(ALERT_FAULTS.flatMap(({ fires }) => fires))].sort()).toEqual(names);
    const sections = [...textOf('docs/runbook.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual(names);
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  it('ask for metrics that there are, as the dashboards do', async () => {
    const known = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
    const folder = 'infra/deploy/grafana/dashboards';
    const texts = [textOf(RULES), ...readdirSync(join(ROOT, folder)).map((file) => textOf(`${folder}/${file}`))];
    const asked = texts.flatMap((text) => text.match(/\bverustream_\w+/g) ?? []);
    const unknown = asked.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it.skipIf(!isInstalled('promtool'))('fire on their faults alone', () => {
    expect(promtool('check', 'rules', join(ROOT, RULES))).toBe('passed');
    const tests = ALERT_FAULTS.map(({ name, series, fires }) => ({
      name,
      interval: '30s',
      input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
      promql_expr_test: [
        {
          expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: LOOKED_AT,
          exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
        },
      ],
    }));
    const file = join(temporaryFolder(), 'alerts.test.yml');
    writeFileSync(file, stringify({ rule_files: [join(ROOT, RULES)], evaluation_interval: '30s', tests }));
    expect(promtool('test', 'rules', file)).toBe('passed');
  });
});
