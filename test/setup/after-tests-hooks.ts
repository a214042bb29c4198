/** Evaluated for each file of tests, as setup files are. */
import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from './after-tests.ts';

afterEach(endTest);
afterAll(endFile);
