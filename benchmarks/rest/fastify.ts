/** Fastify with the bytes of one answer. Argument: URL of the answer. */
import Fastify from 'fastify';

const body = Buffer.from(await (await fetch(process.argv[2] ?? '')).arrayBuffer());
const server = Fastify();
server.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
process.send?.(await server.listen({ host: '127.0.0.1', port: 0 }));
