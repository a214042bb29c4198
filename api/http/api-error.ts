/** Errors of the API: one table of stable codes, one error class, one body (RFC 9457). */
import { PermanentError } from '../../schemas/errors.ts';

export const API_ERRORS = {
  invalid_parameter: [400, 'Invalid parameter', 'A parameter is missing, unknown or has a value that is not allowed.'],
  invalid_request: [400, 'Invalid request', 'The address of the request cannot be read.'],
  invalid_framing: [
    400,
    'Invalid framing',
    'The end of the request is ambiguous: send one Host and one Content-Length or `Transfer-Encoding: chunked`. The connection is closed.',
  ],
  cursor_invalid: [400, 'Invalid cursor', 'This list did not issue the cursor.'],
  not_convertible: [400, 'Not convertible', 'No live basket of the chain converts one currency into the other now.'],
  page_too_deep: [400, 'Page too deep', 'page × pageSize is above 10,000: walk by nextCursor instead.'],
  answer_too_large: [
    400,
    'Answer too large',
    'The answer would have more rows or bytes than allowed: ask for fewer heights, or by page.',
  ],
  receiver_refused: [
    400,
    'Receiver refused',
    'A webhook may go only to a public address over https, at an allowed port.',
  ],
  host_refused: [
    400,
    'Host refused',
    'The service accepts no logins under this host name: the operator configures the accepted host names.',
  ],
  key_invalid: [401, 'Invalid key', 'The API key is wrong, replaced or revoked, or its identity is revoked.'],
  session_required: [401, 'Session required', 'This path takes the token of a session: log in at /api/auth/challenge.'],
  login_refused: [401, 'Login refused', 'The challenge is spent or too old, or the signature does not match.'],
  tier_required: [403, 'Higher tier required', 'This path needs a key or a session of a higher tier.'],
  identity_revoked: [403, 'Identity revoked', 'A revoked identity cannot log in, and its keys no longer work.'],
  not_found: [404, 'Not found', 'Nothing with this name, hash or height is known, or the path does not exist.'],
  method_not_allowed: [405, 'Method not allowed', 'The Allow header names the methods of this path.'],
  cursor_rewound: [
    409,
    'Cursor rewound',
    'A reorganisation replaced the block at the cursor: read the blocks above `height` again and continue with nextCursor.',
  ],
  too_many_keys: [409, 'Too many keys', 'The identity has the maximum number of keys: revoke one first.'],
  too_many_webhooks: [409, 'Too many webhooks', 'The identity has the maximum number of webhooks: delete one first.'],
  payload_too_large: [413, 'Payload too large', 'The body is larger than this path takes.'],
  rate_limited: [
    429,
    'Too many requests',
    'An allowance of the last minute is used up: ask again after Retry-After seconds.',
  ],
  bandwidth_used: [
    429,
    'Bandwidth used',
    'The network of the caller has used up its hourly allowance of bytes of the data set: ask again after Retry-After seconds.',
  ],
  too_many_streams: [
    429,
    'Too many streams',
    'The network of the caller has the maximum number of streams, subscriptions or filters open: close some, or ask again later.',
  ],
  internal_error: [500, 'Internal error', 'The service failed; `instance` names its log line.'],
  daemon_error: [502, 'Daemon error', 'The daemon of the chain could not be reached or refused the call.'],
  mempool_unknown: [
    503,
    'Mempool not known',
    'The mempool of the chain has not been read yet, or this process does not follow it: ask again after Retry-After seconds.',
  ],
  syncing: [
    503,
    'Syncing',
    'No block of this chain is indexed yet, or a login came while the chain was not up to date.',
  ],
  query_too_slow: [
    503,
    'Query too slow',
    'The query took longer than allowed: ask for less (a shorter range, a smaller page, fewer filters), or later.',
  ],
  too_slow: [503, 'Too slow', 'The service did not answer in time: ask again after Retry-After seconds.'],
  busy: [
    503,
    'Busy',
    'Request bodies, or answers of daemons to this caller, take too much memory at the moment: send the request again after Retry-After seconds.',
  ],
  unavailable: [
    503,
    'Unavailable',
    'A store cannot be reached at the moment, for the given `reason`: ask again after Retry-After seconds.',
  ],
  store_damaged: [503, 'Store damaged', 'The store cannot read the requested data until the operator rebuilds it.'],
} as const satisfies Record<string, readonly [status: number, title: string, meaning: string]>;

export type ApiErrorCode = keyof typeof API_ERRORS;

export interface ParameterFault {
  /** JSON pointer into the parameters: `/pageSize`. */
  readonly pointer: string;
  readonly detail: string;
}

export interface ApiErrorDetails {
  readonly errors?: readonly ParameterFault[];
  /** Further members of the body, such as `height` and `nextCursor`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export class ApiError extends PermanentError {
  readonly status: number;
  readonly details: ApiErrorDetails;
  constructor(code: ApiErrorCode, message: string, details: ApiErrorDetails = {}) {
    super(code, message, { cause: details.cause });
    this.status = API_ERRORS[code][0];
    this.details = details;
  }
}

/** The error of one parameter; `at` is its name, or its place in the body without the first slash. */
export function parameterError(at: string, detail: string, code: ApiErrorCode = 'invalid_parameter'): ApiError {
  return new ApiError(code, detail, { errors: [{ pointer: `/${at}`, detail }] });
}

export const notFound = (what: string): ApiError => new ApiError('not_found', `${what} is not known`);

/** Body of application/problem+json; `error` repeats `detail` for clients that read only that. */
export function problemBody(error: ApiError, requestId: string): Record<string, unknown> {
  const code = error.code as ApiErrorCode;
  return {
    type: `/api/errors#${code}`,
    title: API_ERRORS[code][1],
    status: error.status,
    detail: error.message,
    instance: requestId,
    code,
    error: error.message,
    ...(error.details.errors && { errors: error.details.errors }),
    ...error.details.members,
  };
}

/** Bounds the faults in an answer, so that it is never many times the size of the request. */
const MOST_FAULTS = 10;
const LONGEST_TEXT = 1_000;

const cut = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);

export function invalidParameters(faults: readonly ParameterFault[]): ApiError {
  const errors = faults
    .slice(0, MOST_FAULTS)
    .map(({ pointer, detail }) => ({ pointer: cut(pointer), detail: cut(detail) }));
  const more = faults.length > MOST_FAULTS ? `; and ${faults.length - MOST_FAULTS} more` : '';
  return new ApiError('invalid_parameter', errors.map(({ detail }) => detail).join('; ') + more, { errors });
}
