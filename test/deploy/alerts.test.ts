/** Every alert fires on its faults and on no other: promtool extrapolates the metrics that a real program shows during each fault. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../infra/metrics.ts';
import { ROOT } from '../house/source-files.ts';
import { ALERT_FAULTS, CHAIN_FAULTS, SERVICE_FAULTS } from './alert-faults.ts';
import { textOf } from './compose-file.ts';
import { type FaultRun, startFaultRun } from './fault-run.ts';
import { type FiringAlerts, promtool, RULES, rules, testFires, testLeftOut } from './promtool.ts';
import type { Scraped } from './scraped-series.ts';
import { isInstalled } from './topology.ts';

const MINUTES = 60_000;
const names = rules.map(({ alert }) => alert).sort();

describe('the alerts', () => {
  it('each fire on a fault, and have a section in the runbook', () => {
    expect([...new Set(ALERT_FAULTS.flatMap(({ fires }) => fires))].sort()).toEqual(names);
    const sections = [...textOf('docs/runbook.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual(names);
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  it('query only existing metrics, as do the dashboards', async () => {
    const known = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
    const folder = 'infra/deploy/grafana/dashboards';
    const texts = [textOf(RULES), ...readdirSync(join(ROOT, folder)).map((file) => textOf(`${folder}/${file}`))];
    const asked = texts.flatMap((text) => text.match(/\bverustream_\w+/g) ?? []);
    const unknown = asked.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')));
    expect([...new Set(unknown)]).toEqual([]);
  });
});

describe.skipIf(!isInstalled('promtool'))(
  'over the metrics of a program with each fault',
  { timeout: 5 * MINUTES },
  () => {
    let run: FaultRun;
    let ofChains: Scraped;
    const shown: FiringAlerts[] = [];
    beforeAll(async () => {
      run = await startFaultRun();
      ofChains = await run.ofChains();
      for (const fault of CHAIN_FAULTS) shown.push({ fault, scraped: [ofChains] });
      for (const fault of SERVICE_FAULTS) shown.push({ fault, scraped: [await run.ofService(fault)] });
    }, 15 * MINUTES);
    afterAll(() => run?.stop());

    it('the rules are valid', () => {
      expect(promtool('check', 'rules', join(ROOT, RULES))).toBe('');
    });

    it('the alerts of the table fire, and no others', () => {
      expect(testFires(shown)).toBe('');
    });

    it('the rules suppress the alerts that the table lists', () => {
      expect(testLeftOut(shown)).toBe('');
    });
  },
);
