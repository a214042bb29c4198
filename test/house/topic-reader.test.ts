import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/** The reader; the writer of facts, which reads its own newest record at its start; and the codec itself. */
const DECODERS = ['infra/event-log/topic-reader.ts', 'pipeline/derive/facts-publisher.ts', 'schemas/log-codec.ts'];
const OPENERS = ['commands/open-resources.ts', 'infra/event-log/topic-reader.ts', 'pipeline/verify/verify-prices.ts'];
const isTest = (path: string) => /\.test\.ts$|^test\/|^benchmarks\//.test(path);

it('one reader decodes facts and stamps for all consumers', async () => {
  const files = (await sourceFiles()).filter(({ path }) => !isTest(path));
  const naming = (name: RegExp) => files.filter(({ text }) => name.test(text)).map(({ path }) => path);
  expect(naming(/\bdecode(?:Facts|Stamps)Record\b/).sort()).toEqual(DECODERS);
  expect(naming(/\bcreateTopicReader\b/).sort()).toEqual(OPENERS);
});
