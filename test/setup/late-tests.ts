/** A test that is about to reach its time limit says what its stores are busy with, while they still are. */
import { afterEach, beforeEach } from 'vitest';
import { whatIsUnderWay } from '../support/infra/under-way.ts';

/** Enough to ask, and for the answer to be printed. */
const BEFORE_LIMIT_MS = 15_000;
/** A test may put others in their place. */
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
