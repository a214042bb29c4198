import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const ADAPTER = 'infra/event-log/kafka/';
const LEADER = `${ADAPTER}kafkajs-leader.ts`;
const isTest = (path: string) => /\.test\.ts$|^test\//.test(path);

async function pathsWith(pattern: RegExp): Promise<string[]> {
  const files = await sourceFiles();
  return files.filter(({ path, text }) => !isTest(path) && pattern.test(text)).map(({ path }) => path);
}

it('only the log on Kafka, and the benchmark of its reads, use kafkajs', async () => {
  const known = await pathsWith(/['"`]kafkajs['"`/]/);
  expect(known).toContain(LEADER);
  expect(known.filter((path) => !path.startsWith(ADAPTER) && !path.startsWith('benchmarks/kafka-reads'))).toEqual([]);
});

it('one file uses features outside the types of kafkajs, and no file loads its sources', async () => {
  expect(await pathsWith(/['"`]kafkajs\/(?!package\.json)/)).toEqual([]);
  expect(await pathsWith(/partitionAssigners|batchContext|fetchTopicsOffset|kafkajs\/package/)).toEqual([LEADER]);
});

it('the log on Kafka never decides by an error message', async () => {
  const reads = (await pathsWith(/\.message\b(?!\.bytes)/)).filter((path) => path.startsWith(ADAPTER));
  expect(reads).toEqual([]);
});
