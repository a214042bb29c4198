import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const ADAPTER = 'infra/event-log/kafka/';
const LEADER = `${ADAPTER}kafkajs-leader.ts`;
const isTest = (path: string) => /\.test\.ts$|^test\//.test(path);

async function pathsWith(pattern: RegExp): Promise<string[]> {
  const files = await sourceFiles();
  return files.filter(({ path, text }) => !isTest(path) && pattern.test(text)).map(({ path }) => path);
}

it('kafkajs is known to the log on Kafka, and to the benchmark of its reads', async () => {
  const known = await pathsWith(/['"`]kafkajs['"`/]/);
  expect(known).toContain(LEADER);
  expect(known.filter((path) => !path.startsWith(ADAPTER) && !path.startsWith('benchmarks/kafka-reads'))).toEqual([]);
});

it('what kafkajs does not describe in its types is touched by one file, and no file of its sources is loaded', async () => {
  expect(await pathsWith(/['"`]kafkajs\/(?!package\.json)/)).toEqual([]);
  expect(await pathsWith(/partitionAssigners|batchContext|fetchTopicsOffset|kafkajs\/package/)).toEqual([LEADER]);
});

it('no file of the log on Kafka decides by the message of an error: one quotes it', async () => {
  const reads = (await pathsWith(/\.message\b(?!\.bytes)/)).filter((path) => path.startsWith(ADAPTER));
  expect(reads).toEqual([`${ADAPTER}kafka-errors.ts`]);
});
