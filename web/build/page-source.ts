/** The page in the form that the server in api/page takes. */
import { placeOf, titleOf, viewAt } from '../addresses.ts';
import { buildPage } from './build-page.ts';

export const pageSource = {
  describe(path: string, query: string, chains: readonly string[]) {
    const place = placeOf(path, query, chains);
    if (!place) return null;
    const { description, calls } = viewAt(place);
    return {
      title: titleOf(place),
      description,
      json: calls(place.parts, place.query)[0]?.url ?? null,
      module: `web/views/${place.name}.tsx`,
    };
  },
  build: buildPage,
};
