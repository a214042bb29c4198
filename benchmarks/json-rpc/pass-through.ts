/** The simplest possible proxy: node:http with keep-alive that pipes bodies through. Argument: URL of the daemon. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const { hostname, port, username, password } = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
const headers = {
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  'content-type': 'application/json',
};

const server = createServer((asked, answer) => {
  const length = asked.headers['content-length'] ?? '0';
  const upstream = request(
    { hostname, port, method: 'POST', agent, headers: { ...headers, 'content-length': length } },
    (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    },
  );
  upstream.on('error', () => answer.destroy());
  asked.pipe(upstream);
});
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
