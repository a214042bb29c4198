/**
 * This version opens the data folders of earlier versions: all their data is intact, can be rewound by a reorganisation, and the service
 * continues. `make-data-folder.ts` writes the folder of the current version.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { ROOT } from '../house/source-files.ts';
import { answersOf, differing } from '../system/answers.ts';
import { type Program, type ProgramSettings, runCommand, startProgram, until } from '../system/program.ts';
import { servedHeight, settingsForAll, startNode, untilServed } from '../system/recorded-chain.ts';
import { CHAIN, CHAIN_SETTINGS, type FolderContents, OWNER } from './contents.ts';
import { unpackFolder } from './folder-archive.ts';

const MINUTES = 60_000;
const FOLDER = join(ROOT, 'test/upgrade');
const VERSIONS = readdirSync(FOLDER).filter((name) => existsSync(join(FOLDER, name, 'data.tar.zst')));
/** Files of a Postgres cluster are specific to a platform. */
const PLATFORM = 'linux-x64';
const isHere = `${process.platform}-${process.arch}` === PLATFORM;
if (!isHere) console.warn(`data folders of earlier versions are not tried: they were written on ${PLATFORM}`);

const fresh = new Map<number, Promise<Record<string, string>>>();

/** Answers of a program that began with an empty folder, at this height; equal for all versions, so computed once. */
function freshAnswers(height: number): Promise<Record<string, string>> {
  return getOrInsert(fresh, height, () => askFresh(height));
}

async function askFresh(height: number): Promise<Record<string, string>> {
  const node = await startNode(height);
  const program = await startProgram(settingsForAll([{ ...CHAIN_SETTINGS, rpc: node.url }])).answers();
  await untilServed(program, node, 2 * MINUTES);
  await until('the figures of its daemon are known', async () =>
    /"updatedAt":"/.test((await program.get('/api/stats/')).body),
  );
  const answers = await answersOf(program);
  await program.kill('SIGKILL');
  return answers;
}

it('there is a data folder of each earlier version that changed the stores or the log', () => {
  expect(VERSIONS).toEqual(['0.1.0', '0.2.0', '0.3.0', '0.4.1', '0.6.0', '0.7.0', '0.8.0']);
});

describe.skipIf(!isHere).each(VERSIONS)('the data folder of version %s', (version) => {
  const contents = JSON.parse(readFileSync(join(FOLDER, version, 'contents.json'), 'utf8')) as FolderContents;
  let settings: ProgramSettings;
  let node: Awaited<ReturnType<typeof startNode>>;
  let program: Program;

  const asOwner = async (program: Program, path: string, token = contents.key) => {
    const answer = await fetch(program.base + path, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, text: await answer.text() };
  };

  const succeeds = async (...command: string[]): Promise<string> => {
    const { code, output } = await runCommand(command, settings);
    expect(code, `${command.join(' ')}: ${output}`).toBe(0);
    return output;
  };

  beforeAll(async () => {
    node = await startNode(contents.fork);
    node.setFaults({ warmUp: true }); // until all data from the folder has been checked
    const own = settingsForAll([{ ...CHAIN_SETTINGS, rpc: node.url }]);
    settings = own;
    unpackFolder(join(FOLDER, version, 'data.tar.zst'), own.DATA_DIR);
  });

  it('opens with the data of users and operators, which verify derives again from its own log', {
    timeout: 5 * MINUTES,
  }, async () => {
    // The first command opens the folder itself; later ones are answered by the service.
    expect(await succeeds('dead-letters', 'list')).toMatch(/^[1-9]\d* dead letters$/m);
    program = await startProgram(settings, { lives: 'file' }).answers();
    expect((await succeeds('reprocess')).match(/ (served|ready) /g)).toHaveLength(2);
    expect(await succeeds('keys', CHAIN, OWNER)).toMatch(/pro/);
    await succeeds('dead-letters', 'redrive', CHAIN);
    expect(await succeeds('dead-letters', 'list')).toMatch(/^0 dead letters$/m);
    await until(
      'both stages stand at the end of the log',
      async () => (await servedHeight(program)) === contents.height,
    );
    // The end of the next test compares every row again; for one version it is enough to do so before the reorganisation too.
    if (version !== VERSIONS.at(-1)) return;
    await succeeds('audit');
    await succeeds('verify');
  });

  it('continues: the losing branch is rewound, and new blocks arrive', { timeout: 8 * MINUTES }, async () => {
    node.advanceTo(contents.height + 20);
    node.setFaults({});
    await untilServed(program, node, 2 * MINUTES);
    expect(program.output()).toContain(`"fromHeight":${contents.height},"toHeight":${contents.fork}`);
    const webhooks = await asOwner(program, '/api/webhooks');
    expect(webhooks).toMatchObject({ status: 200, text: expect.stringContaining(contents.webhook) });
    await until('the webhook is told of the reorganisation', async () => {
      const { status, text } = await asOwner(program, `/api/webhooks/${contents.webhook}/deliveries?limit=200`);
      return status === 200 && text.includes('"kind":"reorg"');
    });
    expect(await asOwner(program, '/api/auth/session', contents.session)).toMatchObject({ status: 200 });
    const answers = await answersOf(program);
    await succeeds('audit');
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    // verify compares both stores with the log, and so with each other.
    await succeeds('verify');

    expect(differing(answers, await freshAnswers(node.height))).toEqual({});
  });
});
