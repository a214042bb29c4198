/** Descriptions of the answer headers in the OpenAPI document. */
const header = (description: string, type = 'string') => ({ description, schema: { type } });

export const HEADERS = {
  ETag: header('Changes when the answer may have changed'),
  'X-Request-Id': header('Identifies the request in the log of the service; copied from the request if it has one'),
  'X-Chain-State': header(
    'Blocks that the answer was computed at: `vrsc;height=1;hash="…";finalized=0` for each chain, separated by commas',
  ),
  'Provisional-Since': header(
    'Time of the first block whose values may still change because not every chain has passed it; absent when there is none',
  ),
  Marks: header(
    'Known events in the time span of a series that is a list: JSON as in /api/market/marks; absent when there are none',
  ),
  Link: header('Addresses of the first, the next and the previous page of the list (RFC 8288)'),
  'X-Next-Cursor': header('Value of `cursor` for the rows that follow; absent after the last row'),
  'X-Credits-Cost': header('Cost of the request in credits', 'integer'),
  'X-RateLimit-Limit': header('Allowance per minute', 'integer'),
  'X-RateLimit-Remaining': header('Rest of the allowance', 'integer'),
  'X-RateLimit-Reset': header('Seconds until the whole allowance is available again', 'integer'),
  RateLimit: header('Rest of each allowance (structured fields)'),
  'RateLimit-Policy': header('Allowances (structured fields)'),
} as const;
