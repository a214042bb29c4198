/** Body of every error: RFC 9457 with a stable code. */
import { array, integer, object, openObject, string } from './json-schema.ts';

export const problem = {
  ...openObject(
    {
      type: { ...string, description: 'Where the code is explained' },
      title: string,
      status: { ...integer, minimum: 400, maximum: 599 },
      detail: string,
      instance: { ...string, description: 'Id of the request' },
      code: { ...string, description: 'Stable; /api/errors lists all' },
      error: { ...string, description: 'As `detail`' },
      errors: array(
        object({ pointer: { ...string, description: 'JSON pointer into the parameters' }, detail: string }),
        'Each wrong parameter',
      ),
    },
    'Further members belong to the code, such as `retryAfter`, `height` and `nextCursor` of a rewound cursor, `suggestions` of a currency',
  ),
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'error'],
};
