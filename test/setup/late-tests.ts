/** A test that is close to its time limit prints the queries that its stores are running. */
import { afterEach, beforeEach } from 'vitest';
import { whatIsUnderWay } from '../support/infra/under-way.ts';

/** Leaves time to query the stores and print the answer. */
const BEFORE_LIMIT_MS = 15_000;
/** Kept here because a test may replace the global functions. */
const { setTimeout, clearTimeout } = globalThis;
let timer: NodeJS.Timeout | undefined;

beforeEach(({ task }) => {
  if (!(task.timeout > BEFORE_LIMIT_MS)) return;
  timer = setTimeout(() => {
    void whatIsUnderWay().then((text) =>
      console.error(`${task.name}: almost at its limit of ${task.timeout} ms\n${text}`),
    );
  }, task.timeout - BEFORE_LIMIT_MS);
});

afterEach(() => clearTimeout(timer));
