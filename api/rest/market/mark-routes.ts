/** /api/market/marks */
import { liveRoute } from '../../http/route.ts';
import { markList } from '../../schema/marks.ts';
import { allMarks } from '../../state/marks.ts';

const marks = liveRoute({
  path: '/api/market/marks',
  summary: 'Configured spans of time that charts mark',
  parameters: {},
  response: markList,
  weight: 1,
  cache: 'none',
  async handler({ api }) {
    return { body: allMarks(api) };
  },
});

export const marketMarkRoutes = [marks];
