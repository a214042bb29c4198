/**
 * Every view: its address, what the address shows, and the calls of its first paint. The page finds its views here, and the server
 * writes titles, previews, links to the JSON and preloads from it.
 */
import { type Call, call } from './calls.ts';

/** Parts of an address by name, and its query. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface View<Part extends string = string, Calls extends readonly Call[] = readonly Call[]> {
  /** `:chain` is the short name of a chain, in lower case. */
  readonly path: string;
  /** What the view shows, in a few words: its heading. */
  title(parts: Readonly<Record<Part, string>>, query: URLSearchParams): string;
  readonly description: string;
  /** Of the first paint; the first one is what the address shows as JSON. */
  calls(parts: Readonly<Record<Part, string>>, query: URLSearchParams): Calls;
}

function view<const Path extends string, const Calls extends readonly Call[]>(
  path: Path,
  rest: Omit<View<Names<Path>, Calls>, 'path'>,
): View<Names<Path>, Calls> & { readonly path: Path } {
  return { path, ...rest };
}

/** A long id keeps both of its ends. */
export const shortened = (id: string) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-8)}` : id);

export const views = {
  live: view('/', {
    title: () => 'Live',
    description: 'Blocks, reorganisations, conversions and prices of the Verus chains as they come.',
    calls: () => [call('/api/stats/pulse'), call('/api/stats/status'), call('/api/market/overview')],
  }),
  blocks: view('/:chain/blocks', {
    title: () => 'Blocks',
    description: 'Blocks of the chain, newest first: height, time, work or stake, transactions, size and reward.',
    calls: ({ chain }, query) => [
      call('/api/blocks/', {
        query: { chain, pageSize: '50', page: query.get('page'), cursor: query.get('cursor') },
      }),
    ],
  }),
  block: view('/:chain/block/:block', {
    title: ({ block }) => `Block ${shortened(block)}`,
    description: 'A block with its miner or staker, its fees, and its transactions by type.',
    calls: ({ chain, block }) => [call('/api/blocks/{height}', { path: { height: block }, query: { chain } })],
  }),
  tx: view('/:chain/tx/:txid', {
    title: ({ txid }) => `Transaction ${shortened(txid)}`,
    description: 'A transaction: what it spent, what it made, and what its conversions were worth.',
    calls: ({ chain, txid }) => [call('/api/tx/{txid}', { path: { txid }, query: { chain } })],
  }),
} as const satisfies Readonly<Record<string, View<never>>>;

export type ViewName = keyof typeof views;
