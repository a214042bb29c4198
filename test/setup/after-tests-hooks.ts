/** A Vitest setup file: evaluated before each test file. */
import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from './after-tests.ts';

afterEach(endTest);
afterAll(endFile);
