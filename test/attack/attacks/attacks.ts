import type { Attack } from '../target.ts';
import { framing } from './framing.ts';
import { hostileCallsAttack } from './hostile-calls.ts';
import { jsonBodies } from './json-bodies.ts';
import { crowdedMempool, filters, resumes, stalledReaders } from './push.ts';
import { foreignLogins, heavyReads, refusedRequests } from './reads.ts';
import { resetConnections } from './reset-connections.ts';
import { unfinishedBodies } from './unfinished-bodies.ts';
import { unreadAnswers } from './unread-answers.ts';

export const ATTACKS: readonly Attack[] = [
  jsonBodies,
  hostileCallsAttack,
  unfinishedBodies,
  framing,
  filters,
  resumes,
  stalledReaders,
  unreadAnswers,
  resetConnections,
  crowdedMempool,
  heavyReads,
  refusedRequests,
  foreignLogins,
];
