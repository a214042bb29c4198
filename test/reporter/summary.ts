/** Prints one plain line at the end with the counts, and each skipped test with its reason. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
    for (const test of tests) if (test.result().state === 'skipped') console.log(`skipped: ${describeSkipped(test)}`);
    const failed = count('failed') + broken + unhandledErrors.length;
    console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`);
  }
}

function describeSkipped(test: TestCase): string {
  const result = test.result();
  const note = 'note' in result && result.note ? result.note : 'no reason given';
  return `${test.module.relativeModuleId} > ${test.fullName}: ${note}`;
}

export default SummaryReporter;
