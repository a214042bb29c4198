/** A daemon that publishes its blocks and then falls silent, and one that never publishes: the program reports both and follows both. */
import { expect, it } from 'vitest';
import { runCommand, startProgram, until } from './program.ts';
import { settingsForAll, startNode } from './recorded-chain.ts';

const BLOCK_SECONDS = 5;

it('reports a publisher as heard, then as silent; polls the other chain', async () => {
  const publishing = await startNode(50, 0, { zmq: 'tcp://127.0.0.1:*' });
  const polled = await startNode(50);
  const settings = settingsForAll([
    { name: 'told', rpc: publishing.url, zmq: [publishing.zmq], blockSeconds: BLOCK_SECONDS },
    { name: 'polled', rpc: polled.url },
  ]);
  const program = await startProgram(settings).answers();
  const table = async () => (await runCommand(['status'], settings)).output;
  const metric = async () =>
    (await program.get('/metrics')).body.match(/^verustream_daemon_publisher_heard.*$/gm)?.join() ?? '';
  await until('the publisher is heard', async () => {
    publishing.step();
    return (await metric()).endsWith(' 1');
  });
  expect(await metric()).toBe('verustream_daemon_publisher_heard{chain="told",daemon="1"} 1');
  expect(program.output()).toContain('polls polled for new blocks: no zmq is configured');
  await until('status names it heard', async () => (await table()).includes('ZMQ publisher heard'));

  publishing.setFaults({ silentPublisher: true });
  await until('the publisher is silent', async () => {
    publishing.step();
    return (await metric()).endsWith(' 0');
  });
  await until('status names it silent', async () => (await table()).includes('ZMQ publisher silent: it connects'));
  const ready = async () => (await program.get('/api/health/ready?chain=told')).body;
  await expect.poll(ready).toContain('publisher_silent'); // the API learns of it a moment after the table
  await until('both chains are followed', async () => {
    const { body: status } = await program.get('/api/stats/status');
    const { chains } = JSON.parse(status) as { chains: Record<string, { height: number }> };
    return chains.told?.height === publishing.height && chains.polled?.height === polled.height;
  });
});
