/** Starts the longest files first, by the durations of an earlier whole run, so that no long file runs alone at the end. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readDurations } from './durations.ts';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations = readDurations();
    const secondsOf = ({ moduleId }: TestSpecification) =>
      durations[relative(this.ctx.config.root, moduleId).replaceAll(sep, '/')] ?? 0;
    return (await super.sort(files)).toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
