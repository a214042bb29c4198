/** Body of every error: RFC 9457 with a stable code. */
import { array, integer, object, openObject, string, withOptional } from './json-schema.ts';

export const problem = withOptional(
  openObject(
    {
      type: { ...string, description: 'Where the code is explained' },
      title: string,
      status: { ...integer, minimum: 400, maximum: 599 },
      detail: string,
      instance: { ...string, description: 'Id of the request' },
      code: { ...string, description: 'Stable; /api/errors lists all' },
      error: { ...string, description: 'Same as `detail`' },
    },
    'Further members depend on the code, such as `retryAfter`, `height` and `nextCursor` of a rewound cursor, `suggestions` of a currency',
  ),
  {
    errors: array(
      object({ pointer: { ...string, description: 'JSON pointer into the parameters' }, detail: string }),
      'Each wrong parameter',
    ),
  },
);
