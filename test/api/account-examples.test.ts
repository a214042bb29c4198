/** The account programs of examples/, run as their readers run them, by an identity whose keys the test holds. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setTier } from '../../api/access/key-store.ts';
import { ROOT } from '../house/source-files.ts';
import { SEED } from '../setup/seed.ts';
import { answers, type Receiver, startReceiver, verified } from '../support/api/webhooks/receiver.ts';
import { type IdentityDaemon, type OwnIdentity, startIdentityDaemon } from './generated-identities.ts';
import { CHAIN, type RunningService, startServiceOn } from './running-service.ts';

const PROGRAMS = {
  'account.ts': [process.execPath, '--disable-warning=ExperimentalWarning'],
  'account.py': ['python3', '-B'],
} as const;
const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];

let service: RunningService<IdentityDaemon>;
let owner: OwnIdentity;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  const node = await startIdentityDaemon(SEED, [{}]);
  const [first] = node.identities;
  if (!first) throw new Error('the chain has no identity');
  owner = first;
  service = await startServiceOn(node, { webhooks: { delaysMs: [50] } });
  await service.settled();
  await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: owner.address }, 'pro');
});
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await receiver?.close();
  await service?.stop();
});

function start(name: keyof typeof PROGRAMS, identity: string) {
  const [command = '', ...flags] = PROGRAMS[name];
  const child = spawn(command, [...flags, join(ROOT, 'examples', name), service.url, identity, receiver.url]);
  running.add(child);
  child.once('exit', () => running.delete(child));
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const ended = Promise.all([once(child, 'close'), readText(child.stderr)]).then(([[code], err]) => {
    out += err;
    return { code, err };
  });
  const said = async (pattern: RegExp): Promise<string> => {
    await expect.poll(() => out).toMatch(pattern);
    return pattern.exec(out)?.[1] ?? '';
  };
  return { said, answer: (line: string) => child.stdin.write(`${line}\n`), ended, out: () => out };
}

it.each(names)(
  '%s logs in, creates a key, reads usage, registers a webhook and redrives failed deliveries',
  async (name) => {
    receiver.behave((response) => void response.writeHead(500).end('not yet'));
    const program = start(name, owner.address);
    const message = await program.said(/^sign: signmessage "\S+" "(.*)"$/m);
    program.answer(await owner.sign(message));
    const key = await program.said(/shown once: (vst_\S+)/);
    await program.said(/^left now: \d+ of \d+ credits, tier pro$/m);
    await program.said(/^used since 20\S+: 1 requests, 1 credits, 0 refused$/m);
    const secret = await program.said(/shown once: (whsec_\S+)/);
    await program.said(/^not delivered: .*500.*; the receiver said: not yet\nrepair/m);
    receiver.behave(answers(204));
    program.answer('');
    await program.said(/^sent again: [01] failed deliveries and the test\ndelivered: 204 in \d+ ms$/m);
    expect(await program.ended).toEqual({ code: 0, err: '' });
    const last = receiver.received.at(-1);
    expect(last && verified<{ type: string }>(last, secret)).toMatchObject({ type: 'test' });
    const usage = await fetch(`${service.url}/api/usage/now`, { headers: { authorization: `Bearer ${key}` } });
    expect(usage.status).toBe(200);
  },
);

it.each(names)('%s reports why it is refused', async (name) => {
  const unknown = await start(name, 'nosuch@').ended;
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('not_found: ')]);
  const program = start(name, owner.address);
  await program.said(/^sign: (.*)$/m);
  program.answer('AgW=');
  const refused = await program.ended;
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('login_refused: ')]);
});

it.each(names)('%s without its arguments prints its usage, exit code 2', (name) => {
  const [command = '', ...flags] = PROGRAMS[name];
  const { status, stdout, stderr } = spawnSync(command, [...flags, join(ROOT, 'examples', name)], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^usage: .*\n$/)]);
});
