/** Those that start whole services first: they take longest, and at the end they would have the machine to themselves. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export class ServicesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = sorted.filter(startsServices);
    return [...first, ...sorted.filter((file) => !first.includes(file))];
  }
}

function startsServices({ moduleId }: TestSpecification): boolean {
  return /\/test\/(api|attack|crash|laws|system)\//.test(moduleId);
}
