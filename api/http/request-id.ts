/** The id of a request: the client's own if it is plain text, else a counter with a random prefix of this process. */
import { randomBytes } from 'node:crypto';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const PREFIX = randomBytes(9).toString('base64url');
let requests = 0;

/** Returns an id that is safe in a header line, whatever the client sent. */
export function requestId(given = ''): string {
  return given !== '' && REQUEST_ID.test(given) ? given : `${PREFIX}-${++requests}`;
}
