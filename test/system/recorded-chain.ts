/** The daemon of the whole-program tests: the recorded node, in the test's process, and configurations that name it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type RecordedNode,
  type RecordedNodeOptions,
  startRecordedNode,
} from '../../recordings/player/recorded-node.ts';
import type { ChainConfig, Config } from '../../schemas/config.ts';
import { ROOT } from '../house/source-files.ts';
import { afterEachFile } from '../setup/after-tests.ts';
import { type Program, type ProgramSettings, until } from './program.ts';

export const CHAIN = 'vrsc';
/** Rate limits that the tests never reach. */
export const UNLIMITED: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'> = {
  tiers: { free: { creditsPerMinute: 1e9 }, developer: { creditsPerMinute: 1e9 }, pro: { creditsPerMinute: 1e9 } },
  keylessRequestsPerMinute: 1e9,
};
const CREDENTIALS = { user: 'user', password: 'secret' };

const folders: string[] = [];
const nodes = new Set<RecordedNode>();

afterEachFile(async () => {
  for (const node of nodes) await stopNode(node);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** A folder that is removed after the tests of this file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-system-'));
  folders.push(folder);
  return folder;
}

export async function startNode(
  startHeight: number,
  port = 0,
  options: Pick<RecordedNodeOptions, 'onRequest' | 'zmq'> = {},
): Promise<RecordedNode> {
  const folder = join(ROOT, 'recordings/private-network');
  const node = await startRecordedNode({ folder, port, startHeight, ...CREDENTIALS, ...options });
  nodes.add(node);
  return node;
}

export async function stopNode(node: RecordedNode): Promise<void> {
  nodes.delete(node);
  await node.stop();
}

type OwnSettings = ProgramSettings & { readonly DATA_DIR: string };

/** Settings of a program that tails `rpc` into its own data folder. */
export function settingsFor(rpc: string, chain: Partial<ChainConfig> = {}): OwnSettings {
  return settingsForAll([{ name: CHAIN, rpc, ...chain }]);
}

/** The same for several chains; `more` is added to the configuration. */
export function settingsForAll(chains: readonly Partial<ChainConfig>[], more: Partial<Config> = {}): OwnSettings {
  const folder = temporaryFolder();
  const file = join(folder, 'verustream.json');
  const entries = chains.map((chain) => ({
    rootCurrency: 'VRSCTEST',
    stableAnchors: ['iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'],
    minBasketAge: 20,
    ...chain,
  }));
  writeFileSync(file, JSON.stringify({ chains: entries, ...UNLIMITED, ...more }));
  return { VERUSTREAM_CONFIG: file, DATA_DIR: join(folder, 'data') };
}

/** Height that both derive and price have committed, as the API reports it; -1 before the first block. */
export async function servedHeight(program: Program, chain = CHAIN): Promise<number> {
  const { body } = await program.get('/metrics');
  const heights = ['derive', 'price'].map((stage) => {
    const line = new RegExp(`^verustream_stage_height\\{chain="${chain}",stage="${stage}"\\} (\\d+)$`, 'm').exec(body);
    return Number(line?.[1] ?? -1);
  });
  return Math.min(...heights);
}

/** Tip of a daemon. */
type Tip = Pick<RecordedNode, 'height' | 'hash'>;

/** Waits until the program serves exactly the node's tip. */
export async function untilServed(program: Program, node: Tip, ms?: number, chain = CHAIN): Promise<void> {
  await until(
    `block ${node.height} is served`,
    // The newest block first: rendering all metrics takes ten times as long.
    async () => (await newestHash(program)) === node.hash && (await servedHeight(program, chain)) === node.height,
    ms,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${program.output()}`);
  });
}

/** Waits for one chain among several; prices of its newest blocks may still wait for the other chains. */
export async function untilDerived(program: Program, node: Tip, chain: string): Promise<void> {
  await until(`block ${node.height} of ${chain} is served`, async () => {
    return (await newestHash(program, `&chain=${chain}`)) === node.hash;
  });
}

async function newestHash(program: Program, more = ''): Promise<string | undefined> {
  const { body } = await program.get(`/api/blocks/?pageSize=1${more}`);
  return (JSON.parse(body) as { results?: { hash: string }[] }).results?.[0]?.hash;
}
