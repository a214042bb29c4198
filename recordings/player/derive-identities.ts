/** getidentity at a height, with the daemon's own text about the state at that height. */
import { join } from 'node:path';
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { type Derive, integerParam, stringParam } from './derivation.ts';
import { readGzip } from './read-lines.ts';
import type { Recording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';

interface IdentityState {
  readonly height: number;
  /** The answer of getidentity while this state was the newest; null when the recording has none. */
  readonly answer: string | null;
}

interface RecordedIdentity {
  readonly id: string;
  /** Lower case, without the final @. */
  readonly names: ReadonlySet<string>;
  /** Ascending. */
  readonly states: readonly IdentityState[];
}

const text = (object: string, key: string): string => rawMember(object, key) ?? 'null';

/** A state is identified by its output, because one block may contain two states. */
const outputOf = (txid: string, vout: string) => `${txid}:${vout}`;

function readIdentity(row: string): RecordedIdentity {
  const latest = text(row, 'latest');
  const asked = [latest, ...elementTexts(text(row, 'at')).flatMap((at) => rawMember(at, 'result') ?? [])];
  const answers = new Map(asked.map((answer) => [outputOf(text(answer, 'txid'), text(answer, 'vout')), answer]));
  const states = elementTexts(text(text(row, 'history'), 'history')).map((state) => {
    const output = text(state, 'output');
    const answer = answers.get(outputOf(text(output, 'txid'), text(output, 'voutnum'))) ?? null;
    return { height: Number(text(state, 'height')), answer };
  });
  const full = (JSON.parse(text(latest, 'fullyqualifiedname')) as string).toLowerCase().replace(/@$/, '');
  const short = full.slice(0, full.lastIndexOf('.'));
  return { id: JSON.parse(text(row, 'id')) as string, names: new Set([full, short]), states };
}

/** i-addresses of the identities that the abandoned branch changed, with the first height of a change. */
function orphanUpdates({ orphans }: Recording): Map<string, number> {
  const updates = new Map<string, number>();
  for (const block of orphans) {
    for (const [, id = ''] of block.block().matchAll(/"identityaddress":"(i[1-9A-HJ-NP-Za-km-z]+)"/g)) {
      if (!updates.has(id)) updates.set(id, block.height);
    }
  }
  return updates;
}

export function createIdentityDerivations(recording: Recording): { readonly getidentity: Derive } {
  let identities: readonly RecordedIdentity[] | undefined;
  let onOrphanBranch: Map<string, number> | undefined;

  function find(name: string): RecordedIdentity | undefined {
    identities ??= elementTexts(readGzip(join(recording.folder, 'truth', 'identities.json.gz'))).map(readIdentity);
    const bare = name.endsWith('@') ? name.slice(0, -1).toLowerCase() : null;
    return identities.find(({ id, names }) => id === name || (bare !== null && names.has(bare)));
  }

  function answerAt(view: RecordingView, identity: RecordedIdentity, height: number): string | null {
    if (height > view.sharedHeight) {
      onOrphanBranch ??= orphanUpdates(recording);
      const changed = onOrphanBranch.get(identity.id);
      if (changed !== undefined && changed <= height) return null;
    }
    const state = identity.states.findLast((candidate) => candidate.height <= Math.min(height, view.sharedHeight));
    if (state === undefined) throw new RpcFailure(-5, 'Identity not found');
    return state.answer;
  }

  return {
    getidentity(view, [name, height = '0', ...rest]) {
      const wanted = stringParam(name);
      const at = integerParam(height);
      if (wanted === null || at === null || at < 0 || rest.length > 0) return null;
      const identity = find(wanted);
      if (identity === undefined) return null;
      return answerAt(view, identity, at === 0 ? view.height : Math.min(at, view.height));
    },
  };
}
