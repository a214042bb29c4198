import { describe, expect, it } from 'vitest';
import { UsageError } from '../schemas/errors.ts';
import { COMMANDS, type CommandName } from './command-table.ts';
import { parseCommand } from './parse-command.ts';

const parse = (line: string) => parseCommand(line.split(' '));
const CHAIN_AND_HEIGHT = { chain: 'vrsc', height: '5', ordinal: undefined };

it.each([
  ['status', { name: 'status', json: false, help: false, input: {} }],
  ['status --json', { name: 'status', json: true, input: {} }],
  ['keys vrsc alice@ pro', { name: 'keys', input: { chain: 'vrsc', identity: 'alice@', tier: 'pro' } }],
  ['keys --json vrsc alice@', { name: 'keys', json: true, input: { identity: 'alice@', tier: undefined } }],
  ['dead-letters show vrsc 5', { name: 'dead-letters show', input: CHAIN_AND_HEIGHT }],
  ['dead-letters', { name: 'dead-letters list', json: false, input: { chain: undefined } }],
  ['dead-letters --json', { name: 'dead-letters list', json: true }],
  ['reprocess --regime=live --dry-run', { name: 'reprocess', input: { regime: 'live', 'dry-run': true } }],
  ['keys --help', { name: 'keys', help: true }],
  ['keys vrsc -h', { name: 'keys', help: true }],
  ['verify --what --help', { name: 'verify', help: true }],
])('reads %j', (line, expected) => {
  expect(parse(line)).toMatchObject(expected);
});

describe('refuses with one line that states what is allowed', () => {
  it.each([
    [
      'stat',
      'unknown command "stat"; the commands are start, check, status, verify, audit, reprocess, export, sql, dead-letters,',
    ],
    ['constructor', 'unknown command "constructor"'],
    ['dead-letters redo vrsc', 'dead-letters does not know "redo"; it takes one of list, show, redrive'],
    ['status --jsn', "Unknown option '--jsn'; usage: status [--json]"],
    ['status now', 'unexpected argument "now"; usage: status [--json]'],
    ['start --json', "Unknown option '--json'; usage: start"],
    ['status --json=yes', "Option '--json' does not take an argument; usage: status [--json]"],
    ['keys vrsc', '<identity> is missing; usage: keys <chain> <identity> [free|developer|pro] [--json]'],
    ['keys vrsc alice@ gold', '"gold" is not a tier; allowed are free, developer, pro; usage: keys'],
    ['reprocess --drop', "Option '--drop <value>' argument missing; usage: reprocess [--regime REGIME]"],
    ['reprocess --from --to', "Option '--from' argument is ambiguous; usage: reprocess"],
    ['reprocess --sway', "Unknown option '--sway'; usage: reprocess [--regime REGIME]"],
  ])('%s', (line, said) => {
    const refused = () => parse(line);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining(said) }));
    expect(refused).toThrow(expect.objectContaining({ message: expect.not.stringContaining('\n') }));
  });

  it.each(Object.keys(COMMANDS) as CommandName[])('%s takes no option that is not in the table', (name) => {
    expect(() => parseCommand([...name.split(' '), '--no-such-option'])).toThrow(/Unknown option '--no-such-option'/);
  });
});
