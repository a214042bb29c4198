/** Does the long work of answers in slices, so that other work of the process runs in between. */
import { createPace, restsOf } from '../../infra/pace.ts';

/** Shared by all answers, however many are made concurrently. */
const pace = createPace({ sliceMs: 5, restMs: 0 });

/** Maps rows one after the other. The first millisecond of each call has no rest, so do not use it in a loop of many short calls. */
export async function inTurns<Row, Made>(rows: Iterable<Row>, work: (row: Row) => Made): Promise<Made[]> {
  const made: Made[] = [];
  const rests = restsOf(pace);
  for (const row of rows) {
    const rest = rests();
    if (rest) await rest;
    made.push(work(row));
  }
  return made;
}
