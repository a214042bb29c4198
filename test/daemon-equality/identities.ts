/** getidentity at every height, getidentityhistory and getidentitycontent. */

import { SERVICE } from '../../api/access/priority-lanes.ts';
import { contentOver } from '../../api/rest/identities/content-routes.ts';
import { friendlyName } from '../../api/rest/identities/identity-rows.ts';
import { createIdentityHistory } from '../../api/rpc/identity-history.ts';
import { RpcError } from '../../api/rpc/rpc-error.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import { nameToAddress } from '../../domain/names.ts';
import { truth } from '../api/truth.ts';
import { poolRows } from '../support/api/pool-rows.ts';
import { canonical, type Members } from './canonical.ts';
import type { EqualityComparison, Ours } from './comparison.ts';
import { answerAt, answersOf, tip } from './recorded-answers.ts';

const REVOKED = 0x8000;
/** Not compared: members about the node's own wallet. */
export const WALLET = new Set(['canspendfor', 'cansignfor']);

export interface IdentityStateRow {
  readonly identity_address: string;
  readonly fully_qualified_name: string;
  readonly flags: number;
  readonly from_height: number;
  readonly txid: string;
  readonly vout: number;
  readonly state: string;
}

export const STATES_AT = `SELECT identity_address, fully_qualified_name, flags, from_height, txid, vout, state FROM identities
  WHERE chain = $1 AND from_height <= $2 AND (to_height IS NULL OR to_height > $2)`;

export function identityAnswer(row: IdentityStateRow, root: string): Members {
  return {
    friendlyname: friendlyName(row.fully_qualified_name, root),
    fullyqualifiedname: `${row.fully_qualified_name}@`,
    identity: parseExact(row.state),
    status: row.flags & REVOKED ? 'revoked' : 'active',
    blockheight: row.from_height,
    txid: row.txid,
    vout: row.vout,
  };
}

const identities: readonly Members[] = truth('identities.json.gz');
const ids = identities.map(({ id }) => String(id));

/** Memoizes canonical texts, which repeat at many heights. */
function remembered(make: (key: string) => string): (key: string) => string {
  const made = new Map<string, string>();
  return (key) => {
    const text = made.get(key) ?? make(key);
    made.set(key, text);
    return text;
  };
}

const atEveryHeight: EqualityComparison = {
  method: 'getidentity',
  async *answers({ postgres, chain, root }: Ours) {
    const expected = remembered((text) => (text === 'error' ? text : canonical(parseExact(text), WALLET)));
    const rows = new Map<string, IdentityStateRow>();
    const ours = remembered((place) => canonical(identityAnswer(rows.get(place) as IdentityStateRow, root)));
    for (let height = 1; height <= tip; height++) {
      const states = await postgres.pool.query<IdentityStateRow>(STATES_AT, [chain, height]);
      const places = new Map<string, string>();
      for (const row of states.rows) {
        const place = `${row.txid}:${row.vout}`;
        rows.set(place, row);
        places.set(row.identity_address, place);
      }
      for (const id of ids) {
        const answer = answerAt(tip, 'getidentity', id, height);
        if (answer === undefined) continue;
        const place = places.get(id);
        yield { asked: `${id} ${height}`, expected: expected(answer), ours: place ? ours(place) : 'error' };
      }
    }
  },
};

const history: EqualityComparison = {
  method: 'getidentityhistory',
  async *answers({ postgres, chain, root }: Ours) {
    const handler = createIdentityHistory(
      (work) => work(poolRows(postgres)),
      (_, name) => nameToAddress(name, root),
    );
    const ask = async (params: readonly unknown[]) => {
      try {
        return canonical(
          parseExact(
            await handler(
              chain,
              params.map((param) => JSON.stringify(param)),
              SERVICE,
            ),
          ),
        );
      } catch (error) {
        if (error instanceof RpcError) return 'error';
        throw error;
      }
    };
    const recorded = identities.map(({ id, history: of }) => ({ params: [id], result: of as Members }));
    const asked = answersOf('getidentityhistory').filter(({ params }) => params.length <= 3 && params[2] !== -1);
    for (const { params, result } of [...recorded, ...asked]) {
      const { history: states, vout } = result as Members;
      // The daemon makes up the chain's own identity, which is in no block.
      if (vout === -1) continue;
      yield { asked: JSON.stringify(params), expected: canonical(states), ours: await ask(params) };
    }
  },
};

const content: EqualityComparison = {
  method: 'getidentitycontent',
  async *answers({ postgres, chain }: Ours) {
    const recorded = identities.map(({ id, content: of }) => ({ params: [id], result: of as Members }));
    const asked = answersOf('getidentitycontent').filter(({ params }) => params[2] !== -1);
    for (const { params, result } of [...recorded, ...asked]) {
      const { identity, vout, fromheight, toheight } = result as Members;
      if (vout === -1) continue;
      const { contentmultimap, identityaddress } = identity as Members;
      const whole = await contentOver(
        poolRows(postgres),
        chain,
        String(identityaddress),
        Number(fromheight),
        Number(toheight),
      );
      // For a key, the daemon shows the whole content of the updates that have this key.
      const key = params[5] as string | undefined;
      const of = (map: unknown) => canonical(key === undefined ? map : ((map as Members)[key] ?? null));
      yield { asked: JSON.stringify(params), expected: of(contentmultimap), ours: of(whole) };
    }
  },
};

export const identityComparisons: readonly EqualityComparison[] = [atEveryHeight, history, content];
