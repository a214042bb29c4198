/** The client of the page: sends the reader's token in a header, never in a URL. */
import { createVerustreamClient } from '../../client/client.ts';
import { noteLimits } from './meter.ts';
import { session } from './session.ts';

export const client = createVerustreamClient({ baseUrl: location.origin, numbers: 'text' });

const bearerOfReader = () => {
  const reader = session.peek();
  return reader && bearer(reader.token);
};

client.use({
  onRequest({ request }) {
    const own = bearerOfReader();
    if (own !== null && !request.headers.has('Authorization')) request.headers.set('Authorization', own);
    return request;
  },
  onResponse({ request, response }) {
    const { pathname, search } = new URL(request.url);
    if (request.headers.get('Authorization') === bearerOfReader()) noteLimits(`${pathname}${search}`, response.headers);
    return undefined;
  },
});

export function bearer(token: string): string {
  return `Bearer ${token}`;
}
