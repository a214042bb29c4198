/** Records the duration of each test file of a whole run, for the order of later runs (RECORD_DURATIONS=1). */
import type { Reporter, TestModule } from 'vitest/node';
import { writeDurations } from '../setup/durations.ts';

export class DurationsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.map((module) => {
      const { collectDuration, duration } = module.diagnostic();
      return [module.relativeModuleId, (collectDuration + duration) / 1000] as const;
    });
    writeDurations(Object.fromEntries(rows));
  }
}

export default DurationsReporter;
