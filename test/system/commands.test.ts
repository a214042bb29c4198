/** The command line of the real program: what it prints with `--json`, and what it refuses. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { release } from '../../commands/release.ts';
import { readJsonOutput } from '../support/commands/command-output.ts';
import { type EndedProgram, type Program, type ProgramSettings, runCommand, startProgram } from './program.ts';
import { CHAIN, settingsFor, startNode, untilServed } from './recorded-chain.ts';

/** An identity of the bundled recording. */
const IDENTITY = 'alice@';
const HASH = 'f'.repeat(64);

let settings: ProgramSettings;
let program: Program;

beforeAll(async () => {
  const node = await startNode(200);
  settings = settingsFor(node.url);
  program = await startProgram(settings, { lives: 'file' }).answers();
  await untilServed(program, node);
});
afterAll(async () => {
  await program.kill('SIGTERM');
});

const run = (line: string) => runCommand(line.split(' '), settings);

/** Output on stderr without the log, which is JSON lines. */
function complaint({ stdout, stderr }: EndedProgram): { stdout: string; lines: string[] } {
  return { stdout, lines: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')) };
}

const STATE = [
  'status',
  'check',
  'verify',
  'audit',
  'reprocess',
  'sql SELECT(1)',
  'dead-letters',
  `dead-letters list ${CHAIN}`,
  `dead-letters redrive ${CHAIN}`,
  `keys ${CHAIN} ${IDENTITY} developer`,
  `accept-rewind ${CHAIN} 5 ${HASH}`,
  'config',
];

async function printsState(lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const { code, stdout, output } = await run(`${line} --json`);
    expect(stdout, `${line}: ${output}`).not.toBe('');
    const document = readJsonOutput(stdout);
    const [first = '', second = ''] = line.split(' ');
    const name = first === 'dead-letters' ? `${first} ${second || 'list'}` : first;
    expect(document, output).toMatchObject({ command: name, version: 1 });
    if ('ok' in document) expect(document.ok).toBe(code === 0);
    else expect(code, output).toBe(0);
  }
}

const REFUSED: readonly (readonly [line: string, allowed: RegExp])[] = [
  ['stat', /unknown command "stat"; the commands are start, check, status, verify, audit, .*play-recording/],
  ['status --jsn', /Unknown option '--jsn'; usage: status \[--json\]/],
  ['keys', /<chain> is missing; usage: keys <chain> <identity>/],
  ['keys vrsc', /<identity> is missing; usage: keys <chain> <identity>/],
  [`keys ${CHAIN} ${IDENTITY} gold`, /"gold" is not a tier; allowed are free, developer, pro/],
  [`keys nochain ${IDENTITY}`, /the chain "nochain" is not configured; allowed are vrsc/],
  [`keys ${CHAIN} nobody@`, /the chain vrsc knows no identity "nobody@"; allowed is .* i-address/],
  [`keys ${CHAIN} iGBs4DWztRNvNEJBt4mqHszLxfKTNHTkhM`, /knows no identity "iGBs/],
  ['dead-letters list nochain', /the chain "nochain" is not configured; allowed are vrsc/],
  ['dead-letters redrive nochain', /the chain "nochain" is not configured; allowed are vrsc/],
  [`dead-letters redrive ${CHAIN} newest`, /"newest" is not a height; give a whole number/],
  [`dead-letters show ${CHAIN} 7`, /no such dead letter at block 7; .*dead-letters list vrsc/],
  [`accept-rewind nochain 5 ${HASH}`, /the chain "nochain" is not configured; allowed are vrsc/],
  [`accept-rewind ${CHAIN} 5 abc`, /"abc" is not a block hash; a hash has 64 digits/],
  ['export out', /"out" is not a destination; allowed is an absolute path/],
  ['sql DROP', /only a SELECT is allowed, which may begin with WITH/],
  ['reprocess --regime dead', /there is no regime "dead"; allowed are live, backfill, cutover/],
  ['reprocess --regime live --chains nochain', /the chain "nochain" is not configured; allowed are vrsc/],
  ['reprocess --from', /'--from <value>' argument missing; usage: reprocess/],
  ['play-recording fast', /"fast" is not a number of seconds; allowed is more than 0 and at most 3600/],
];

async function refuses(line: string, allowed: RegExp): Promise<void> {
  const ended = await run(line);
  expect(ended.code, ended.output).toBe(2);
  const { stdout, lines } = complaint(ended);
  expect(stdout).toBe('');
  expect(lines).toEqual([expect.stringMatching(/^verustream: .*\(usage\)$/)]);
  expect(lines[0]).toMatch(allowed);
}

describe('commands on a running service', () => {
  it('print state by the published schema with --json, and nothing else on stdout', () => printsState(STATE));
  it.each(REFUSED)('refuse `%s` in one line, exit code 2', refuses);
});

describe('commands on a folder without a running service', () => {
  beforeAll(async () => {
    await program.kill('SIGTERM');
  });
  it('print the same state', () => printsState(['status', 'reprocess']));
  it('refuse the same arguments', () => refuses(`keys ${CHAIN} nobody@`, /the chain vrsc knows no identity "nobody@"/));
});

it('prints the list of commands on stderr with exit code 2 if none is given; help exits with 0', async () => {
  const nothing = await runCommand([], settings);
  expect(nothing).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: verustream <command>'),
  });
  for (const words of [['--help'], ['-h'], ['help'], ['help', 'keys'], ['keys', '--help']]) {
    expect(await runCommand(words, settings)).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await runCommand(['--version'], settings)).toMatchObject({ code: 0, stdout: `${release}\n`, stderr: '' });
  expect(await runCommand(['help', 'stat'], settings)).toMatchObject({ code: 2, stdout: '' });
});
