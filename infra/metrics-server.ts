/** /metrics and /api/health on a separate port, for a process without the API or with a public one. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, PermanentError } from '../schemas/errors.ts';
import { registry } from './metrics.ts';

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

const ANSWERS: Readonly<Record<string, () => Promise<{ type: string; body: string }>>> = {
  '/metrics': async () => ({ type: registry.contentType, body: await registry.metrics() }),
  '/api/health': async () => ({ type: 'application/json', body: '{"status":"ok"}' }),
};

/** Port 0 takes any free port. @throws PermanentError port_unavailable */
export async function startMetricsServer(host: string, port: number): Promise<MetricsServer> {
  const server = createServer(async ({ method, url = '' }, response) => {
    const answer = Object.hasOwn(ANSWERS, url) ? ANSWERS[url] : undefined;
    if (!answer || (method !== 'GET' && method !== 'HEAD')) return response.writeHead(404).end();
    try {
      const { type, body } = await answer();
      response.writeHead(200, { 'Content-Type': type }).end(method === 'HEAD' ? undefined : body);
    } catch (error) {
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${messageOf(error)}\n`);
    }
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (cause) {
    const message = `cannot listen on ${host}:${port} for metrics: it is in use or not allowed. Set HOST or METRICS_PORT.`;
    throw new PermanentError('port_unavailable', message, { cause });
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
