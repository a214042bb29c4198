/**
 * The caches of hot paths against lru-cache: nanoseconds per look-up of a thousand cached keys, alternating. A ratio above 1 means that
 * lru-cache takes longer (decision 0049).
 * node benchmarks/caches.bench.ts [rounds = 21]
 */
import { LRUCache } from 'lru-cache';
import { createPreparedAnswers, type PreparedAnswer } from '../api/http/prepared-answers.ts';
import { memoize } from '../api/state/memoize.ts';
import { createAgingMap } from '../pipeline/derive/aging-map.ts';
import { median } from './verdict.ts';

const [rounds = 21] = process.argv.slice(2).map(Number);
const PASSES = 500;
const KEYS = Array.from({ length: 1000 }, (_, n) => `/api/blocks/${n}?pageSize=50&cursor=${n * 7919}`);
const ANSWER: PreparedAnswer = { tag: '1', body: new Uint8Array(1000) };

let found = 0;

const own = memoize((text) => text.length, KEYS.length);
const lengths = new LRUCache<string, number>({ max: KEYS.length });
function length(text: string): number {
  const known = lengths.get(text);
  if (known !== undefined) return known;
  lengths.set(text, text.length);
  return text.length;
}

const prepared = createPreparedAnswers(1e7);
const answers = new LRUCache<string, PreparedAnswer>({
  max: 1e5,
  maxSize: 1e7,
  sizeCalculation: ({ body }) => body.byteLength,
});
const aging = createAgingMap<string, object>();
const objects = new LRUCache<string, object>({ max: 2 * KEYS.length });
for (const key of KEYS) {
  prepared.keep(key, ANSWER);
  answers.set(key, ANSWER);
  aging.set(key, ANSWER);
  objects.set(key, ANSWER);
}

type Look = (key: string) => unknown;
const CASES: Readonly<Record<string, readonly [own: Look, library: Look]>> = {
  memoize: [own, length],
  'prepared answers': [(key) => prepared.get(key, '1'), (key) => answers.get(key)?.tag === '1'],
  'aging map, get': [(key) => aging.get(key), (key) => objects.get(key)],
  'aging map, set': [(key) => aging.set(key, ANSWER), (key) => objects.set(key, ANSWER)],
};

function nanoseconds(look: Look): number {
  const start = process.hrtime.bigint();
  for (let pass = 0; pass < PASSES; pass++) for (const key of KEYS) if (look(key)) found++;
  return Number(process.hrtime.bigint() - start) / PASSES / KEYS.length;
}

for (const [name, [mine, library]] of Object.entries(CASES)) {
  const pairs = Array.from({ length: rounds }, () => [nanoseconds(mine), nanoseconds(library)] as const).slice(1);
  const [ownNs, lruNs] = [median(pairs.map(([ns]) => ns)), median(pairs.map(([, ns]) => ns))];
  const ratio = Number((lruNs / ownNs).toFixed(2));
  console.log(JSON.stringify({ benchmark: 'caches', case: name, ownNs, lruNs, ratio }));
}
if (found === 0) throw new Error('nothing was looked up');
