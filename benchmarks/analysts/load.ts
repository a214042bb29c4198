/**
 * A process that requests paths at a steady rate, however long the answers take, and reports their latencies in ms; or that downloads files
 * as fast as it can.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface LoadPlan {
  readonly url: string;
  readonly paths: readonly string[];
  readonly seconds: number;
  /** Requests per second; null: each reader sends its next request at once. */
  readonly rate: number | null;
  readonly readers: number;
}

export interface LoadReport {
  /** Milliseconds from the time when each request was due. */
  readonly latencies: readonly number[];
  readonly bytes: number;
}

async function ask({ url, paths, seconds, rate, readers }: LoadPlan): Promise<LoadReport> {
  const dispatcher = new Agent({ connections: readers, pipelining: 1 });
  const latencies: number[] = [];
  let [asked, bytes] = [0, 0];
  const began = performance.now();
  const end = began + seconds * 1000;
  const one = async (due: number) => {
    const path = paths[asked++ % paths.length] ?? '';
    const { statusCode, body } = await request(url + path, { dispatcher });
    for await (const chunk of body) bytes += (chunk as Buffer).length;
    if (statusCode !== 200) throw new Error(`${path} answers ${statusCode}`);
    latencies.push(performance.now() - due);
  };
  if (rate === null) {
    const reading = async () => {
      while (performance.now() < end) await one(performance.now());
    };
    await Promise.all(Array.from({ length: readers }, reading));
  } else {
    const under: Promise<void>[] = [];
    for (let due = began; due < end; due += 1000 / rate) {
      await sleep(Math.max(0, due - performance.now()));
      under.push(one(due));
    }
    await Promise.all(under);
  }
  await dispatcher.close();
  return { latencies, bytes };
}

process.once('message', (asked: LoadPlan) => {
  ask(asked).then(
    (report) => process.send?.(report, () => process.exit()),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
