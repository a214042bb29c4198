/** The smallest answer of uWebSockets.js. */
import { App, us_socket_local_port } from 'uWebSockets.js';

const app = App().get('/*', (res) => {
  res.end('hello');
});
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port for the baseline');
  process.send?.(`http://127.0.0.1:${us_socket_local_port(socket)}/`);
});
