/** Headers of answers, as the OpenAPI document describes them. */
const header = (description: string, type = 'string') => ({ description, schema: { type } });

export const HEADERS = {
  ETag: header('Changes when the answer may have'),
  'X-Request-Id': header('Names the request in the log of the service; taken over from the request where it has one'),
  'X-Chain-State': header(
    'Blocks that the answer was computed at: `vrsc;height=1;hash="…";finalized=0` of each chain, by commas',
  ),
  'Provisional-Since': header(
    'Time of the first block beyond what every chain has passed, where the answer may hold such: that may still be valued otherwise',
  ),
  Marks: header(
    'What is known to have happened in the span of a series that is a list: JSON, as /api/market/marks; absent without any',
  ),
  Link: header('Addresses of the list from its beginning, of the next page and of the one before (RFC 8288)'),
  'X-Next-Cursor': header('Where the rows go on, as `cursor`; absent after the last one'),
  'X-Credits-Cost': header('What the request cost', 'integer'),
  'X-RateLimit-Limit': header('Allowance of a minute', 'integer'),
  'X-RateLimit-Remaining': header('What is left of it', 'integer'),
  'X-RateLimit-Reset': header('Seconds until all of it is back', 'integer'),
  RateLimit: header('What is left of each allowance (structured fields)'),
  'RateLimit-Policy': header('Allowances (structured fields)'),
} as const;
