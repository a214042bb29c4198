/** Trouble with the daemon: shown in one line, waited out where waiting helps, and nothing is lost. */
import { describe, expect, it } from 'vitest';
import { reservePort } from '../support/infra/reserved-port.ts';
import { startForeignGenesis } from './foreign-genesis.ts';
import { type LogLine, type Program, startProgram, until } from './program.ts';
import { settingsFor, settingsForAll, startNode, stopNode, untilServed } from './recorded-chain.ts';

interface Reason {
  readonly code: string;
  readonly stage: string | null;
  readonly cause: string | null;
  readonly detail: string;
}

/** A reason is left ten seconds after its cause has gone. */
async function untilReady(program: Program): Promise<void> {
  await until('the service is ready', async () => (await unready(program)).length === 0);
}

/** Until ready names the code, of which the reason is returned. */
async function untilUnready(program: Program, code: string): Promise<Reason> {
  let reasons: readonly Reason[] = [];
  const find = () => reasons.find((reason) => reason.code === code);
  const holds = async () => {
    reasons = await unready(program);
    return find() !== undefined;
  };
  await until(`ready says ${code}`, holds).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${JSON.stringify(reasons)}`);
  });
  return find() as Reason;
}

async function unready(program: Program): Promise<readonly Reason[]> {
  const { status, body } = await program.get('/api/health/ready');
  expect([200, 503]).toContain(status);
  const { reasons } = JSON.parse(body) as { reasons: Reason[] };
  expect(reasons.length > 0).toBe(status === 503);
  return reasons;
}

/** The first complaint of this code. */
async function complaint(program: Program, code: string): Promise<LogLine> {
  const find = () => program.complaints().find((line) => line.code === code);
  await until(`a complaint ${code}`, () => find() !== undefined).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${program.output()}`);
  });
  return find() as LogLine;
}

describe('a daemon that cannot be reached', () => {
  it('is waited for, at the start and later; no block is lost', async () => {
    const { port } = await reservePort();
    const before = await startNode(40, port);
    await stopNode(before);
    const program = await startProgram(settingsFor(before.url)).answers();
    const first = await complaint(program, 'daemon_unreachable');
    expect(first).toMatchObject({
      state: 'waiting',
      chain: 'vrsc',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
    expect(await untilUnready(program, 'daemon_unreachable')).toMatchObject({ stage: null, cause: null });
    expect(await untilUnready(program, 'stalled')).toMatchObject({ stage: 'tail' });

    const node = await startNode(40, port);
    await untilServed(program, node);
    await untilReady(program);

    await stopNode(node);
    await untilUnready(program, 'daemon_unreachable');
    await until('the second complaint', () => program.complaints().length >= 2).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${program.output()}`);
    });
    const back = await startNode(60, port);
    await untilServed(program, back);
    expect(
      program.complaints().map(({ code }) => code),
      'one line each time',
    ).toEqual(['daemon_unreachable', 'daemon_unreachable']);
  });
});

describe('a daemon that loads its index', () => {
  it('is waited for; ready says why', async () => {
    const node = await startNode(40);
    node.setFaults({ warmUp: true });
    const program = await startProgram(settingsFor(node.url)).answers();
    await complaint(program, 'daemon_warming_up');
    expect(await untilUnready(program, 'daemon_warming_up')).toMatchObject({ stage: null });
    await until('the standing chain names its daemon', async () => {
      const { detail } = await untilUnready(program, 'stalled');
      return /no block yet.*waiting, daemon_warming_up/.test(detail);
    });
    expect(JSON.parse((await program.get('/api/health')).body)).toEqual({ status: 'degraded' });
    node.setFaults({});
    await untilServed(program, node);
    await untilReady(program);
  });
});

describe('a daemon that hangs', () => {
  it('is waited for; ready says so while what is there is served, and of a chain whose daemon answers nothing', async () => {
    const [node, other] = [await startNode(40), await startNode(40)];
    const program = await startProgram(
      settingsForAll([
        { name: 'vrsc', rpc: node.url },
        { name: 'other', rpc: other.url },
      ]),
    ).answers();
    await untilReady(program);
    node.setFaults({ timeoutRate: 1 });
    await untilUnready(program, 'daemon_timeout');
    const statusOf = async (path: string) => (await program.get(path)).status;
    expect(await statusOf('/api/health/ready?chain=vrsc')).toBe(503);
    expect(await statusOf('/api/health/ready?chain=OTHER')).toBe(200);
    expect(await statusOf('/api/health/ready?chain=nowhere')).toBe(400);
    for (const path of ['/api/blocks/?pageSize=1', '/api/stats/network', '/api/stats/status']) {
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    }
    node.setFaults({});
    await untilReady(program);
  });
});

describe('a daemon that refuses the password', () => {
  it('is said to, is not hammered, and is followed once it accepts', async () => {
    const node = await startNode(40);
    node.setFaults({ wrongAuth: true });
    const program = await startProgram(settingsFor(node.url)).answers();
    const { message } = await complaint(program, 'daemon_auth_failed');
    expect(message).toMatch(/password|credentials/);
    expect(JSON.stringify(program.complaints())).not.toContain('secret');
    await untilUnready(program, 'daemon_auth_failed');
    node.setFaults({});
    await untilServed(program, node);
  });
});

describe('a daemon of another chain', () => {
  it('with another root currency stops the chain and writes nothing', async () => {
    const node = await startNode(40);
    const program = await startProgram(settingsFor(node.url, { rootCurrency: 'VRSC' })).answers();
    const { message } = await complaint(program, 'wrong_chain');
    expect(message).toMatch(/serves VRSCTEST .*rootCurrency VRSC\. Nothing was written\. Correct/);
    expect(await untilUnready(program, 'wrong_chain')).toMatchObject({ stage: null });
    expect(await program.get('/api/blocks/')).toMatchObject({
      status: 503,
      body: expect.stringContaining('"syncing"'),
    });
    expect(program.complaints()).toEqual([expect.objectContaining({ code: 'wrong_chain' })]);
  });

  it('with another first block than the log stops the chain, which goes on when the right one is back', async () => {
    const node = await startNode(40);
    const proxy = await startForeignGenesis(node.url);
    proxy.foreign = false;
    const settings = settingsFor(proxy.url);
    const program = await startProgram(settings).answers();
    await untilServed(program, node);
    await program.kill('SIGTERM');

    proxy.foreign = true;
    node.advanceTo(50);
    const again = await startProgram(settings).answers();
    const { message } = await complaint(again, 'wrong_chain');
    expect(message).toMatch(/at height 0, the log has .*different chains\. Nothing was written\. Correct/);
    expect(await untilUnready(again, 'stage_stopped')).toMatchObject({ stage: 'tail', cause: 'wrong_chain' });
    expect(JSON.parse((await again.get('/api/blocks/')).body)).toMatchObject({ total: 41 });

    proxy.foreign = false;
    await untilServed(again, node);
    expect(again.complaints()).toEqual([expect.objectContaining({ code: 'wrong_chain' })]);
  });
});

describe('a daemon that stands still', () => {
  it('makes the service not ready after 20 block times, until it moves again', async () => {
    const node = await startNode(40);
    const program = await startProgram(settingsFor(node.url, { blockSeconds: 1 })).answers();
    await untilServed(program, node);
    await untilReady(program);
    const { stage, detail } = await untilUnready(program, 'stalled');
    expect([stage, detail]).toEqual(['tail', expect.stringMatching(/more than 20 s ago \(following\)/)]);
    expect(await program.get('/api/blocks/?pageSize=1')).toMatchObject({ status: 200 });
    node.step();
    await untilServed(program, node);
    await untilReady(program);
  });
});
