/** Prints the URLs of the service. */
import type { Config } from '../schemas/config.ts';

export function announce(config: Config, print: (line: string) => void): void {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  const base = `${host.includes(':') ? `[${host}]` : host}:${config.port}`;
  const chains = config.chains.map(({ name }) => name).join(', ');
  print('');
  print(`verustream serves ${config.demo ? `the bundled recordings as chains ${chains}, no live chain` : chains}`);
  print(`  page               http://${base}/`);
  print(`  index of the API   http://${base}/api/`);
  print(`  newest blocks      curl 'http://${base}/api/blocks/?pageSize=3'`);
  print(`  oracle prices      curl 'http://${base}/api/oracle/prices'`);
  print(`  JSON-RPC           curl --data '{"id":1,"method":"getblockcount"}' http://${base}/`);
  print(`  live stream        curl -N http://${base}/api/stream   (or WebSocket ws://${base}/api/ws)`);
  print(`  is it ready        curl http://${base}/api/health/ready`);
  print('');
}
