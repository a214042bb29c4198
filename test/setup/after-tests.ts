/**
 * Lets helpers clean up after each test and each test file. Vitest hooks in a helper would run for the first file of a process only,
 * because a process runs many files but imports each module once.
 */
type Work = () => unknown;

const ofTests: Work[] = [];
const ofFiles: Work[] = [];

/** Works run in the order of these calls, after the hooks of the test itself. */
export const afterEachTest = (work: Work): void => void ofTests.push(work);
export const afterEachFile = (work: Work): void => void ofFiles.push(work);

export async function endTest(): Promise<void> {
  for (const work of ofTests) await work();
}

export async function endFile(): Promise<void> {
  for (const work of ofFiles) await work();
}
