/** Trouble with the daemon: the program reports it in one line, waits where waiting helps, and loses nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { reservePort } from '../support/infra/reserved-port.ts';
import { startForeignGenesis } from './foreign-genesis.ts';
import { type LogLine, type Program, startProgram, until } from './program.ts';
import {
  servedHeight,
  settingsFor,
  settingsForAll,
  startNode,
  stopNode,
  untilDerived,
  untilServed,
} from './recorded-chain.ts';

interface Reason {
  readonly code: string;
  readonly stage: string | null;
  readonly cause: string | null;
  readonly detail: string;
}

/** Readiness drops a reason ten seconds after its cause is gone. */
async function untilReady(program: Program, chain?: string): Promise<void> {
  await until('the service is ready', async () => (await unready(program, chain)).length === 0);
}

/** Waits until readiness reports the code, and returns its reason. */
async function untilUnready(program: Program, code: string, chain?: string): Promise<Reason> {
  let reasons: readonly Reason[] = [];
  const find = () => reasons.find((reason) => reason.code === code);
  const holds = async () => {
    reasons = await unready(program, chain);
    return find() !== undefined;
  };
  await until(`ready says ${code}`, holds).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${JSON.stringify(reasons)}`);
  });
  return find() as Reason;
}

async function unready(program: Program, chain?: string): Promise<readonly Reason[]> {
  const { status, body } = await program.get(`/api/health/ready${chain === undefined ? '' : `?chain=${chain}`}`);
  expect([200, 503]).toContain(status);
  const { reasons } = JSON.parse(body) as { reasons: Reason[] };
  expect(reasons.length > 0).toBe(status === 503);
  return reasons;
}

/** The first logged warning or error with this code. */
async function complaint(program: Program, code: string): Promise<LogLine> {
  const find = () => program.complaints().find((line) => line.code === code);
  await until(`a complaint ${code}`, () => find() !== undefined).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${program.output()}`);
  });
  return find() as LogLine;
}

describe('a daemon that cannot be reached', () => {
  it('makes the program wait, at the start and later; no block is lost', async () => {
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

describe('daemons of one program', () => {
  const CHAINS = ['loading', 'hanging', 'refusing'] as const;
  let nodes: Readonly<Record<(typeof CHAINS)[number], RecordedNode>>;
  let program: Program;

  beforeAll(async () => {
    const [loading, hanging, refusing] = [await startNode(40), await startNode(40), await startNode(40)];
    nodes = { loading, hanging, refusing };
    loading.setFaults({ warmUp: true });
    const settings = settingsForAll(CHAINS.map((name) => ({ name, rpc: nodes[name].url })));
    program = await startProgram(settings, { lives: 'file' }).answers();
  });
  afterAll(() => program?.kill('SIGKILL'));

  it('waits for one that loads its index; readiness reports why', async () => {
    await untilReady(program, 'hanging');
    await untilReady(program, 'refusing');
    await complaint(program, 'daemon_warming_up');
    expect(await untilUnready(program, 'daemon_warming_up', 'loading')).toMatchObject({ stage: null });
    await until('the standing chain names its daemon', async () => {
      const { detail } = await untilUnready(program, 'stalled', 'loading');
      return /no block yet.*waiting, daemon_warming_up/.test(detail);
    });
    expect(JSON.parse((await program.get('/api/health')).body)).toEqual({ status: 'degraded' });
    nodes.loading.setFaults({});
    await untilDerived(program, nodes.loading, 'loading');
    await untilReady(program);
  });

  it('waits for one that hangs; readiness reports it, and the chain is still served', async () => {
    nodes.hanging.setFaults({ timeoutRate: 1 });
    await untilUnready(program, 'daemon_timeout', 'hanging');
    const statusOf = async (path: string) => (await program.get(path)).status;
    expect(await statusOf('/api/health/ready?chain=hanging')).toBe(503);
    expect(await statusOf('/api/health/ready?chain=LOADING')).toBe(200);
    expect(await statusOf('/api/health/ready?chain=nowhere')).toBe(400);
    const paths = ['/api/blocks/?pageSize=1&chain=hanging', '/api/stats/network?chain=hanging', '/api/stats/status'];
    for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, 200]);
    nodes.hanging.setFaults({});
    await untilReady(program);
  });

  it('reports one that refuses the password, does not hammer it, and follows it once it accepts', async () => {
    nodes.refusing.setFaults({ wrongAuth: true });
    nodes.refusing.step();
    const { message } = await complaint(program, 'daemon_auth_failed');
    expect(message).toMatch(/password|credentials/);
    expect(JSON.stringify(program.complaints())).not.toContain('secret');
    await untilUnready(program, 'daemon_auth_failed', 'refusing');
    nodes.refusing.setFaults({});
    await untilDerived(program, nodes.refusing, 'refusing');
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

  it('with a genesis block that differs from the log stops the chain, which continues when the right daemon is back', async () => {
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

describe('a daemon without new blocks', () => {
  it('makes the service not ready after 20 block times, until it moves again', async () => {
    const node = await startNode(40);
    const program = await startProgram(settingsFor(node.url, { blockSeconds: 1 })).answers();
    /** With one second per block, a chain is ready only while new blocks arrive. */
    const untilReadyWhileItMoves = () =>
      until('the service is ready while blocks come', async () => {
        if ((await servedHeight(program)) === node.height) node.step();
        return (await unready(program)).length === 0;
      });
    await untilServed(program, node);
    await untilReadyWhileItMoves();
    expect(await untilUnready(program, 'stalled')).toMatchObject({ stage: 'tail' });
    const detail = async () => (await unready(program)).find(({ code }) => code === 'stalled')?.detail;
    await expect.poll(detail).toMatch(/more than 20 s ago \(following\)/);
    expect(await program.get('/api/blocks/?pageSize=1')).toMatchObject({ status: 200 });
    await untilReadyWhileItMoves();
    await untilServed(program, node);
  });
});
