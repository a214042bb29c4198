import { afterEach, expect, it } from 'vitest';
import { type MetricsServer, startMetricsServer } from './metrics-server.ts';

let server: MetricsServer;
afterEach(() => server.close());

it('serves the metrics and the health of the process, and nothing else', async () => {
  server = await startMetricsServer('127.0.0.1', 0);
  const base = `http://127.0.0.1:${server.port}`;
  const metrics = await fetch(`${base}/metrics`);
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await metrics.text()).toContain('# TYPE verustream_stage_height gauge');
  expect(await (await fetch(`${base}/api/health`)).json()).toEqual({ status: 'ok' });
  for (const path of ['/', '/api/blocks/', '/constructor']) expect((await fetch(base + path)).status).toBe(404);
  expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
});

it('reports which port is unavailable', async () => {
  server = await startMetricsServer('127.0.0.1', 0);
  await expect(startMetricsServer('127.0.0.1', server.port)).rejects.toMatchObject({
    code: 'port_unavailable',
    message: expect.stringContaining(`127.0.0.1:${server.port}`),
  });
});
