/** Identities now and at every recorded height. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { blocks, type LooseJson, sat, tip, truth } from '../truth.ts';

export function identitiesConform(client: TestClient): void {
  describe('identities', () => {
    const recorded: LooseJson[] = truth('identities.json.gz');
    const shown = (identity: LooseJson) => ({
      name: identity.name,
      parent: identity.parent,
      identityaddress: identity.identityaddress,
      primaryaddresses: identity.primaryaddresses,
      minimumsignatures: identity.minimumsignatures,
      revocationauthority: identity.revocationauthority,
      recoveryauthority: identity.recoveryauthority,
      flags: identity.flags,
      timelock: identity.timelock,
      contentmultimap: identity.contentmultimap,
      contentmap: identity.contentmap,
    });

    it('are found by i-address, full name and friendly name, in any ASCII case', async () => {
      for (const { id, latest } of recorded) {
        const ascii = latest.friendlyname.replace(/[a-z]/g, (letter: string) => letter.toUpperCase());
        for (const name of [id, latest.fullyqualifiedname, latest.friendlyname, ascii]) {
          const row = await client.json(`/api/identity/${encodeURIComponent(name)}`);
          expect(shown(row), name).toEqual(shown(latest.identity));
          expect(row.friendlyName).toBe(latest.friendlyname);
          expect([row.lastUpdate.txid, row.lastUpdate.height]).toEqual([latest.txid, latest.blockheight]);
        }
      }
    });

    it('have their recorded state at every recorded height', async () => {
      for (const { id, at } of recorded) {
        for (const probe of at) {
          const path = `/api/identity/${id}?height=${probe.height}`;
          if (probe.error) expect(await client.status(path), path).toBe(404);
          else expect(shown(await client.json(path)), path).toEqual(shown(probe.result.identity));
        }
      }
    });

    it.each(['', '/multimap'])(
      'have a state up to the newest block, and none before the first update: %s',
      async (part) => {
        for (const { id } of recorded) {
          const path = `/api/identity/${id}${part}`;
          expect(await client.json(`${path}?height=${tip}`)).toEqual(await client.json(path));
          expect(await client.status(`${path}?height=${tip + 1}`), 'a block that is not there yet').toBe(404);
          expect(await client.status(`${path}?height=0`), 'the first block').toBe(404);
        }
      },
    );

    it('are all listed, with every change', async () => {
      const rows = await client.walk('/api/identity/', 7);
      expect(new Set(rows.map((row) => row.identityAddress))).toEqual(new Set(recorded.map(({ id }) => id)));
      for (const { id, history } of recorded) {
        const changes = await client.json(`/api/identity/${id}/changes`);
        const expected = history.history.map(({ height, output }: LooseJson) => [height, output.txid]).reverse();
        expect(changes.map((change: LooseJson) => [change.height, change.txid])).toEqual(expected);
        expect(changes.at(-1).kind).toBe('registered');
      }
    });

    it('are listed by the status that each of them has', async () => {
      const rows = await client.walk('/api/identity/', 100);
      const seen = new Set<string>();
      for (const status of ['unlocked', 'locked', 'unlocking', 'revoked']) {
        const wanted = rows.filter((row) => row.status === status);
        expect(await client.walk(`/api/identity/?status=${status}`, 3), status).toEqual(wanted);
        expect((await client.json(`/api/identity/?status=${status}`)).total).toBe(wanted.length);
        if (wanted.length > 0) seen.add(status);
      }
      for (const { identityAddress, status } of rows) {
        expect((await client.json(`/api/identity/${identityAddress}`)).status).toBe(status);
      }
      expect(seen.size).toBeGreaterThan(2);
      expect(await client.status('/api/identity/?status=gone')).toBe(400);
    });

    it('have all their updates listed, by kind and by parent', async () => {
      const all = await client.walk('/api/identity/events', 50);
      const expected: LooseJson[] = [];
      for (const { id } of recorded) {
        const { name, parent, fullyQualifiedName } = await client.json(`/api/identity/${id}`);
        const changes: LooseJson[] = await client.json(`/api/identity/${id}/changes`);
        for (const { changes: values, ...event } of changes) {
          const fields = values.map(({ field }: LooseJson) => field);
          expected.push({ identityAddress: id, name, fullyQualifiedName, parent, ...event, fields });
        }
      }
      const sorted = (events: LooseJson[]) =>
        events.map((event) => JSON.stringify(Object.entries(event).sort())).sort();
      expect(sorted(all)).toEqual(sorted(expected));
      const heights = all.map(({ height }) => height);
      expect(heights).toEqual([...heights].sort((a, b) => b - a));
      const [kinds, parents] = [new Set(all.map(({ kind }) => kind)), new Set(all.map(({ parent }) => parent))];
      expect([kinds.size > 3, parents.size > 1]).toEqual([true, true]);
      const known = new Set(recorded.map(({ id }) => id));
      for (const parent of [undefined, ...parents]) {
        if (parent !== undefined && !known.has(parent)) continue; // the root is not an identity of this chain
        for (const kind of [undefined, ...kinds]) {
          const query = [kind && `kind=${kind}`, parent && `parent=${parent}`].filter(Boolean).join('&');
          const wanted = all.filter((row) => (!kind || row.kind === kind) && (!parent || row.parent === parent));
          expect(await client.walk(`/api/identity/events?${query}`, 7), query).toEqual(wanted);
          expect((await client.json(`/api/identity/events?${query}`)).total).toBe(wanted.length);
        }
      }
    });

    it.each([
      ['kind=sold', 400],
      ['parent=', 400],
      ['parent=a%00', 400],
      ['parent=nobody-at-all@', 404],
      ['cursor=x', 400],
    ])('refuses updates by %s: %i', async (query, status) => {
      expect(await client.status(`/api/identity/events?${query}`)).toBe(status);
    });

    it('have the same changes page by page', async () => {
      for (const { id } of recorded) {
        const path = `/api/identity/${id}/changes`;
        const walked: LooseJson[] = [];
        for (let place: string | null = 'page=1'; place !== null; ) {
          const page: LooseJson = await client.json(`${path}?pageSize=2&${place}`);
          walked.push(...page.results);
          place = page.nextCursor && `cursor=${page.nextCursor}`;
        }
        expect(walked).toEqual(await client.json(path));
      }
    });

    it('have their content at a height, completely and by key', async () => {
      for (const { id, history } of recorded) {
        for (const { height, identity } of history.history.slice(-2)) {
          const path = `/api/identity/${id}/multimap?height=${height}`;
          const newest = history.history.filter((entry: LooseJson) => entry.height === height).at(-1).identity;
          expect((await client.json(path)).contentmultimap).toEqual(newest.contentmultimap);
          const [key] = Object.keys(identity.contentmultimap);
          if (!key || newest !== identity) continue;
          expect((await client.json(`${path}&key=${key}`)).contentmultimap).toEqual({
            [key]: identity.contentmultimap[key],
          });
        }
      }
    });

    it('have the merged content of all updates, and of some', async () => {
      for (const { id, content } of recorded) {
        const whole = await client.json(`/api/identity/${id}/multimap?mode=aggregate`);
        expect(whole.contentmultimap).toEqual(content.identity.contentmultimap);
      }
      const [{ id }] = recorded.filter(({ latest }) => latest.friendlyname.startsWith('bob.'));
      const path = `/api/identity/${id}/multimap?mode=aggregate`;
      expect((await client.json(`${path}&fromHeight=833`)).decoded).toEqual({
        iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG: ['rev 1 bob', 'on the branch that is abandoned'],
      });
      expect((await client.json(`${path}&fromHeight=278&height=832`)).contentmultimap).toEqual({});
      for (const wrong of [`${path}&fromHeight=833&height=832`, `/api/identity/${id}/multimap?fromHeight=833`]) {
        const answer = await client.raw(wrong);
        expect([wrong, answer.status, ((await answer.json()) as LooseJson).errors[0].pointer]).toEqual([
          wrong,
          400,
          '/fromHeight',
        ]);
      }
    });

    it('show what a registration spent and cost, and when a lock ends', async () => {
      const bob = await client.json('/api/identity/bob@');
      expect(bob.registration).toMatchObject({ referralName: 'alice.VRSCTEST', cost: [{ currencyName: 'VRSCTEST' }] });
      expect(sat(bob.registration.cost[0].amount)).toBe('8000000000');
      expect(bob.registration.commitmentTxid).toMatch(/^[0-9a-f]{64}$/);
      const vault = recorded.find(({ latest }) => latest.friendlyname.startsWith('vault.'))?.history.history;
      const unlocking = vault.find(({ identity }: LooseJson) => identity.flags === 0 && identity.timelock > 0);
      const { timelock } = unlocking.identity;
      const at = await client.json(`/api/identity/vault@?height=${unlocking.height}`);
      expect([at.status, at.blocksToUnlock]).toEqual(['unlocking', timelock - unlocking.height]);
      expect(await client.json('/api/identity/vault')).toMatchObject({ status: 'locked', blocksToUnlock: 500 });
    });

    it('have the referral tree of the reservations', async () => {
      const children = new Map<string, string[]>();
      for (const { scriptPubKey } of blocks.flatMap((block) => block.tx.flatMap((tx: LooseJson) => tx.vout))) {
        const { referral, nameid } = scriptPubKey.identityreservation ?? {};
        if (referral) children.set(referral, [...(children.get(referral) ?? []), nameid]);
      }
      for (const { id } of recorded) {
        const { levels, tree } = await client.json(`/api/identity/${id}/referrals`);
        let front = [id];
        let nodes: LooseJson[] = tree;
        for (const count of levels) {
          front = front.flatMap((parent) => children.get(parent) ?? []);
          expect(count).toBe(front.length);
          expect(nodes.map((node) => node.identityAddress).sort()).toEqual([...front].sort());
          nodes = nodes.flatMap((node) => node.children);
        }
      }
    });
  });
}
