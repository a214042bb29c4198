/**
 * The same answers from uWebSockets.js alone: it reads the parts of a request that the service reads, and sends the same headers and bytes,
 * with two headers computed for each request. Arguments: URL of the service, an API key, paths.
 */
import { App, us_socket_local_port } from 'uWebSockets.js';

const [origin = '', key = '', ...paths] = process.argv.slice(2);
/** Headers that uWebSockets.js writes itself. */
const ITS_OWN = ['date', 'content-length', 'connection', 'keep-alive', 'uwebsockets'];
/** Headers computed for each request, as in the service. */
const OWN = ['x-request-id', 'ratelimit', 'access-control-allow-origin'];

const app = App();
for (const path of paths) {
  const reply = await fetch(origin + path, { headers: { Authorization: `Bearer ${key}` } });
  if (!reply.ok) throw new Error(`${path} answers ${reply.status}`);
  const body = Buffer.from(await reply.arrayBuffer());
  const headers = [...reply.headers].filter(([name]) => !ITS_OWN.includes(name) && !OWN.includes(name));
  const lines = headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
  const limit = reply.headers.get('ratelimit') ?? '';
  const prefix = (reply.headers.get('x-request-id') ?? '').replace(/\d+$/, '');
  let requests = 0;
  app.get(path, (res, req) => {
    const [query, known, encoding] = [req.getQuery(), req.getHeader('if-none-match'), req.getHeader('accept-encoding')];
    const [caller, id] = [req.getHeader('authorization'), req.getHeader('x-request-id')];
    if (query || known || id || !caller || encoding === 'none') throw new Error('another request than the load sends');
    const own = `\r\nX-Request-Id: ${prefix}${++requests}\r\nRateLimit: ${limit};c=${Math.round(performance.now())}`;
    // One call writes all headers, because a call costs more than a kilobyte.
    res.writeHeader('Access-Control-Allow-Origin', `*${lines}${own}`);
    res.end(body);
  });
}
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port for the baseline');
  process.send?.(`http://127.0.0.1:${us_socket_local_port(socket)}`);
});
