/** Every command with its arguments and options. The parser, `--help` and docs/commands.md follow from this table. */
import { TIERS } from '../schemas/config.ts';
import type { Argument, CommandSpec, Option } from './command.ts';

const CHAIN = { summary: 'name of a configured chain' } as const;
const SOME_CHAIN = { ...CHAIN, optional: true } as const;

export const COMMANDS = {
  start: {
    summary: 'run the service (tail, derive, price, serve) until SIGTERM',
    arguments: {},
    options: {},
    json: false,
    notes: ['Configured by the environment and VERUSTREAM_CONFIG; without a daemon it plays the bundled recordings.'],
  },
  check: {
    summary: 'check daemons, log, stores and this machine, and say how to repair each fault',
    arguments: {},
    options: {},
    json: true,
    notes: [
      'Prints one line for each finding: right, note or WRONG, with what to do. Changes nothing, so it can run next to a service.',
      'Exit code 1 when something is wrong.',
    ],
  },
  status: {
    summary: 'show the state of each daemon and each stage of each chain',
    arguments: {},
    options: {},
    json: true,
    notes: ['Exit code 0 when nothing is stopped or in error.'],
  },
  verify: {
    summary: 'derive again from the log into fresh stores and compare with what is served',
    arguments: {},
    options: {},
    json: true,
    notes: ['Exit code 0 when every digest is equal.'],
  },
  audit: {
    summary: 'compare what Postgres and ClickHouse hold',
    arguments: {},
    options: {},
    json: true,
    notes: ['Exit code 0 when both hold the same and every invariant holds.'],
  },
  reprocess: {
    summary: 'stamp history again next to what is served, compare, swap and swap back',
    arguments: {},
    options: {
      regime: {
        value: 'REGIME',
        summary: 'make a generation by the regime live, backfill, or cutover (as configured)',
      },
      from: { value: 'TIME', summary: 'with --regime: first moment of the range' },
      to: { value: 'TIME', summary: 'with --regime: end of the range; without it, new conversions are included' },
      chains: { value: 'NAME,…', summary: 'with --regime: only conversions of these chains' },
      'dry-run': { summary: 'with --regime: stop at the comparison' },
      swap: { summary: 'serve the newer generation' },
      'swap-back': { summary: 'serve the older generation again' },
      drop: { value: 'GENERATION', summary: 'remove the generation that is not served' },
    },
    json: true,
    notes: [
      'Without options it lists the generations.',
      'TIME is a UTC day, a moment such as 2026-04-24T12:00:00Z, or seconds since the epoch.',
      'What is served stays unchanged until --swap. A stopped run continues when the same command is given again.',
    ],
  },
  export: {
    summary: 'write the data set as Parquet files, or bring it up to date',
    arguments: { destination: { summary: 'a folder, by its absolute path, or s3://bucket/prefix' } },
    options: {
      tables: { value: 'NAME,…', summary: 'only these tables of docs/data.md' },
      chains: { value: 'NAME,…', summary: 'only these chains' },
      from: { value: 'DAY', summary: 'add no files of UTC days before this one, such as 2026-05-01' },
      to: { value: 'DAY', summary: 'add no files of this UTC day and later ones' },
      endpoint: { value: 'URL', summary: 'of an S3 server other than Amazon’s, such as https://minio.example.org' },
    },
    json: true,
    notes: [
      'Writes what is missing or has changed, one file for each table, chain and UTC day, and then the manifests; a stopped export continues when the same command is given again.',
      'Files that the destination already has are brought up to date, whatever --from and --to are.',
      'S3 reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION from the environment of the command, or of the running service while one holds the data folder.',
    ],
  },
  sql: {
    summary: 'run one SELECT in ClickHouse over the views of the data set',
    arguments: { statement: { summary: 'the statement, in quotes' } },
    options: {
      format: { value: 'FORMAT', summary: 'csv, ndjson or table; csv by default' },
      rows: { value: 'NUMBER', summary: 'most rows of the answer, up to 1000000; 10000 by default' },
      seconds: { value: 'NUMBER', summary: 'time limit, up to 600; 60 by default' },
    },
    json: true,
    notes: [
      'Each view is named v_ and the name of a table of docs/data.md, and contains what is currently served.',
      'Only reads, with one thread and 1 GiB of memory; an answer has at most 256 MiB. Through a running service four statements run at once; others wait, each for at most its own time limit.',
    ],
  },
  'dead-letters list': {
    summary: 'list what could not be decoded',
    arguments: { chain: SOME_CHAIN },
    options: {},
    json: true,
    notes: [
      '`dead-letters` without a subcommand runs it too; the other subcommands are show and redrive. Lists up to 1000.',
    ],
  },
  'dead-letters show': {
    summary: 'show cause and payload of the dead letters of a block',
    arguments: {
      chain: CHAIN,
      height: { summary: 'height of the block' },
      ordinal: { summary: 'number of one dead letter of the block', optional: true },
    },
    options: {},
    json: true,
    notes: [],
  },
  'dead-letters redrive': {
    summary: 'derive a chain again from its oldest dead letter on',
    arguments: { chain: CHAIN, height: { summary: 'block to begin with instead', optional: true } },
    options: {},
    json: true,
    notes: ['Exit code 0 when no dead letter is left from there on.'],
  },
  keys: {
    summary: 'show or set the tier of an identity, and show its keys',
    arguments: {
      chain: CHAIN,
      identity: { summary: 'an identity of the chain, by name@ or i-address' },
      tier: { summary: 'the new tier', optional: true, choices: TIERS },
    },
    options: {},
    json: true,
    notes: ['A new tier takes effect at once, in every process.'],
  },
  'accept-rewind': {
    summary: 'allow one rewind of a chain below finality, to one given block',
    arguments: {
      chain: CHAIN,
      height: { summary: 'height of the newest block that stays' },
      hash: { summary: 'its hash, as the error of the stopped tailer names it' },
    },
    options: {},
    json: true,
    notes: [],
  },
  config: {
    summary: 'print the effective configuration, secrets masked',
    arguments: {},
    options: {},
    json: true,
    notes: ['Fails, and names every wrong value, when the configuration is wrong.'],
  },
  'play-recording': {
    summary: 'serve the bundled recording as a daemon, one block every few seconds',
    arguments: { seconds: { summary: 'seconds per block, up to 3600; 5 by default', optional: true } },
    options: {},
    json: false,
    notes: [
      'Listens on HOST at the port of the first chain’s daemon, with the user and password of that address, until SIGTERM.',
      'Keeps its position in DATA_DIR and continues from it after a restart.',
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandName = keyof typeof COMMANDS;

type Text<A extends Argument> = A extends { readonly choices: readonly (infer C)[] } ? C : string;
type Arguments<A extends Readonly<Record<string, Argument>>> = {
  readonly [K in keyof A]: A[K] extends { readonly optional: true } ? Text<A[K]> | undefined : Text<A[K]>;
};
type Options<O extends Readonly<Record<string, Option>>> = {
  readonly [K in keyof O]?: (O[K] extends { readonly value: string } ? string : boolean) | undefined;
};

/** The input of a command: its arguments and options by name. */
export type InputOf<N extends CommandName> = Arguments<(typeof COMMANDS)[N]['arguments']> &
  Options<(typeof COMMANDS)[N]['options']>;
