/** Long work of answers, with turns for other work of the process in between. */
import { createPace, restsOf } from '../../infra/pace.ts';

/** One for all answers, however many are made at once. */
const pace = createPace({ sliceMs: 5, restMs: 0 });

/** Works on one row after the other. The first millisecond of each call is free, so a loop of many short calls would never rest. */
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
