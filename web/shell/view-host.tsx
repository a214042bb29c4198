/** Shows the view of the address, and marks when its first paint is complete. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { hrefOf, type Place, viewAt } from '../addresses.ts';
import { Id, Text } from '../parts/text.tsx';
import { type Answer, ask } from '../state/answers.ts';
import { cursor, sequence, streamState } from '../state/live.ts';
import { isMissing } from '../state/missing.ts';
import { onNavigation, place, visit } from '../state/place.ts';
import { session } from '../state/session.ts';
import { standstill } from '../state/standstill.ts';
import { names } from '../state/thing.ts';
import '../kit.ts';
import { shownSpan } from '../text/times.ts';
import { viewModules } from '../view-modules.ts';
import type { ViewProps } from '../view-props.ts';
import type { ViewName } from '../views.ts';
import { loadView } from './load-view.ts';
import { AccountNav, LoginWanted, SessionNotice } from './private-view.tsx';

type Ready = 'true' | 'limited' | 'failed' | 'not-found' | undefined;

/** After this time the page informs the reader that the view is late. */
const LATE_MS = 9_000;

function readiness(answers: readonly Answer[]): Ready {
  let ready: Ready = 'true';
  for (const [index, { shown, trouble }] of answers.entries()) {
    if (shown.value) continue;
    const { value } = trouble;
    if (value === null) return undefined;
    if (value.status === 404 && index === 0) return 'not-found';
    if (value.status === 404 || (value.code === 'answer_too_large' && index > 0)) continue; // the panel shows it
    ready = value.status === 429 ? 'limited' : 'failed';
  }
  return ready;
}

export function ViewHost() {
  const here = place.value;
  if (!here) return <NotFound />;
  if (!viewAt(here).isPrivate) return <Main key={visit.value} here={here} />;
  // Keyed by session, so that nothing of the previous reader remains, not even typed text.
  if (session.value === null) return <Locked key={visit.value} here={here} />;
  return <Main key={`${visit.value} ${session.value.token}`} here={here} />;
}

/** Shown while no identity is logged in, in place of a private view. */
function Locked({ here }: { readonly here: Place }) {
  return (
    <main id="main" data-view={here.name} data-ready="failed" aria-busy="false" data-stream={streamState}>
      <Heading text={viewAt(here).title(here.parts, here.query)} />
      <SessionNotice />
      <LoginWanted />
    </main>
  );
}

function Main({ here }: { readonly here: Place }) {
  const { name, parts, query } = here;
  const answers = useMemo(() => viewAt(here).calls(parts, query).map(ask), [here]);
  const { View, missing } = useModule(name);
  const isLate = useLate(here);
  const ready = useMemo(() => computed((): Ready => (isMissing.value ? 'not-found' : readiness(answers))), [answers]);
  const waits = missing === null ? undefined : 'failed';
  const state = View === null ? waits : ready.value;
  const isOverdue = useLate(visit.value); // even if the reader changes the query of the view meanwhile
  const isPainted = useRef(false);
  if (state !== undefined || isOverdue) isPainted.current = true;
  return (
    <main
      id="main"
      class={isPainted.current ? undefined : 'unpainted'}
      data-view={name}
      data-ready={state ?? (isLate ? 'failed' : undefined)}
      data-stale={standstill.value?.code}
      aria-busy={state === undefined}
      data-stream={streamState}
      data-seq={sequence}
      data-cursor={cursor}
    >
      <Heading text={viewAt(here).title({ ...parts, ...names.value }, query)} chain={parts.chain} id={onlyId(parts)} />
      <SessionNotice />
      {viewAt(here).isPrivate && <AccountNav />}
      <Standstill />
      {missing !== null && <Missing missing={missing} />}
      {View && <View place={here} parts={parts as never} query={query} answers={answers as never} />}
    </main>
  );
}

/** Explains why the numbers do not change. */
function Standstill() {
  const { value } = standstill;
  if (value === null) return null;
  return (
    <p class="banner stale" role="status" data-help="standstill">
      <strong>The index stands still</strong>
      <span>
        <Text text={value.detail.replaceAll('_', ' ')} />
      </span>
      {value.etaSeconds !== null && <span>Caught up in about {shownSpan(Number(value.etaSeconds) * 1000)}.</span>}
      <a href={hrefOf('status', {})}>Status</a>
    </p>
  );
}

/** A view's component without its own property types, which the table of modules has checked. */
type AnyView = ComponentType<ViewProps<ViewName>>;

interface Module {
  readonly View: AnyView | null;
  /** `gone`: the file cannot be loaded, even after a reload where one was possible. `offline`: the service does not answer; retrying. */
  readonly missing: 'gone' | 'offline' | null;
}

function useModule(name: ViewName): Module {
  const [module, setModule] = useState<Module>({ View: null, missing: null });
  useEffect(() => {
    const visit = new AbortController();
    const load = viewModules[name] as () => Promise<{ View: AnyView }>;
    const show = (shown: Module) => {
      if (!visit.signal.aborted) setModule(shown);
    };
    const onOffline = () => show({ View: null, missing: 'offline' });
    loadView(load, { signal: visit.signal, onOffline }).then(
      (loaded) => loaded && show({ View: loaded.View, missing: null }),
      () => show({ View: null, missing: 'gone' }),
    );
    return () => visit.abort();
  }, [name]);
  return module;
}

function Missing({ missing }: { readonly missing: 'gone' | 'offline' }) {
  if (missing === 'offline') {
    return (
      <div role="alert" class="alert" data-code="unreachable">
        <strong>The service does not answer</strong>{' '}
        <span>This view was not opened before, so its file is not here yet. It is shown once the service answers.</span>
      </div>
    );
  }
  return (
    <div role="alert" class="alert" data-code="file_missing">
      <strong>This view could not be loaded</strong>{' '}
      <span>Its file is not on the service: the page may be older than the service. The API answers all the same.</span>
      <button type="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  );
}

function useLate(subject: unknown): boolean {
  const [late, setLate] = useState<unknown>(null);
  useEffect(() => {
    const timer = setTimeout(() => setLate(subject), LATE_MS);
    return () => clearTimeout(timer);
  }, [subject]);
  return late === subject;
}

let hasNavigated = false;
onNavigation(() => {
  hasNavigated = true;
});

const I_ADDRESS = /^i[1-9A-HJ-NP-Za-km-z]{33}$/;

/** The i-address that the view's name belongs to; null for several names, whose panels show their ids. */
function onlyId(parts: Place['parts']): string | null {
  const [part = '', ...others] = Object.keys(names.value);
  const id = parts[part] ?? '';
  return I_ADDRESS.test(id) && others.length === 0 ? id : null;
}

interface HeadingProps {
  readonly text: string;
  readonly chain?: string | undefined;
  readonly id?: string | null;
}

function Heading({ text, chain, id = null }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // A layout effect runs before the reader's next key press; a later one would steal the focus from where that key went.
  useLayoutEffect(() => {
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="heading">
      <h1 ref={heading} tabIndex={-1}>
        <Text text={text} />
      </h1>
      {id !== null && (
        <span class="muted">
          <Id id={id} />
        </span>
      )}
      {chain !== undefined && chain !== text && <span class="badge">{chain}</span>}
    </div>
  );
}

function NotFound() {
  return (
    <main id="main" data-view="not-found" data-ready="not-found" aria-busy="false" data-stream={streamState}>
      <Heading text="Nothing here" />
      <p class="empty">
        This service has no page at this address. <a href="/">The live view</a> leads to everything that it has.
      </p>
    </main>
  );
}
