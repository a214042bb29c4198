/** A part of a view that shows one answer: its request, the block it is as of, and ways to copy or download it. */
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { type AnswerOf, type Call, type GetPath, needsSession } from '../calls.ts';
import { type Answer, watch } from '../state/answers.ts';
import { chainsOf } from '../state/tips.ts';
import { Alert } from './alert.tsx';
import { Copy } from './copy.tsx';
import { DOTS, Icon } from './icons.tsx';
import { SaveLink } from './save-link.tsx';
import { ScopeRoot } from './scope.tsx';

interface PanelProps<Path extends GetPath> {
  readonly title: string;
  readonly answer: Answer<Path>;
  /** Whether the answer is a list that the API also returns as CSV and NDJSON. */
  readonly isList?: boolean;
  /** Height reserved until the answer arrives. */
  readonly frame?: 'short' | 'medium' | 'tall';
  readonly children: (data: AnswerOf<Path>) => ComponentChildren;
}

export function Panel<Path extends GetPath>(props: PanelProps<Path>) {
  const { title, answer, isList = false, frame = 'medium', children } = props;
  const { call, trouble, isBusy } = answer;
  const id = useId();
  useEffect(() => watch(answer), [answer]);
  const shown = answer.shown.value;
  return (
    <section
      class="panel"
      aria-labelledby={id}
      data-src={shown?.url}
      data-chain-state={shown?.chainState ?? undefined}
      aria-busy={isBusy.value && !shown && !trouble.value}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {shown && <AsOf chainState={shown.chainState} />}
        <PanelMenu call={call} url={shown?.url ?? call.url} title={title} isList={isList} refresh={answer.refresh} />
      </header>
      {trouble.value && <Alert trouble={trouble.value} retry={answer.refresh} />}
      {shown ? (
        <Guard at={shown.at}>
          <ScopeRoot data={shown.data} src={shown.url} chainState={shown.chainState}>
            {children(shown.data)}
          </ScopeRoot>
        </Guard>
      ) : (
        !trouble.value && <div class={`frame ${frame}`} />
      )}
    </section>
  );
}

function AsOf({ chainState }: { readonly chainState: string | null }) {
  if (chainState === null) return null;
  const [first, ...more] = chainsOf(chainState);
  if (!first) return null;
  return (
    <span class="as-of" data-derived="as-of">
      as of {first.name} {first.height.toLocaleString('en-US')}
      {more.length > 0 && ` and ${more.length} more`}
    </span>
  );
}

const FORMATS = ['csv', 'ndjson'] as const;

interface MenuProps {
  readonly call: Call;
  /** Path and query of the request. */
  readonly url: string;
  readonly title: string;
  readonly isList: boolean;
  readonly refresh: () => void;
}

function PanelMenu({ call, url, title, isList, refresh }: MenuProps) {
  const isPrivate = needsSession(url);
  const absolute = `${location.origin}${url}`;
  const formatted = (format: string) => {
    const address = new URL(absolute);
    for (const name of ['page', 'cursor', 'pageSize']) address.searchParams.delete(name);
    address.searchParams.set('format', format);
    return `${address.pathname}${address.search}`;
  };
  return (
    <details class="menu">
      <summary aria-label={`Menu of ${title}`}>
        <Icon path={DOTS} />
      </summary>
      <div>
        <Copy label="Copy as curl" text={`curl ${isPrivate ? CURL_TOKEN : ''}'${absolute.replaceAll("'", '%27')}'`} />
        <Copy label="Copy as TypeScript" text={() => asTypeScript(call, url)} />
        {isPrivate ? <SaveLink words="JSON" url={url} name={fileNameOf(url)} /> : <a href={url}>JSON</a>}
        {isList &&
          FORMATS.map((format) => (
            <a key={format} href={formatted(format)} download>
              {format.toUpperCase()}
            </a>
          ))}
        <button type="button" onClick={refresh}>
          Refresh
        </button>
      </div>
    </details>
  );
}

/** No token is copied; the reader sets the variable before running the command. */
const CURL_TOKEN = `-H "Authorization: Bearer $VERUSTREAM_TOKEN" `;
const TYPESCRIPT_TOKEN = ', key: process.env.VERUSTREAM_TOKEN';

/** `/api/usage/now?…` → usage-now.json */
function fileNameOf(url: string): string {
  const [path = ''] = url.split('?');
  return `${path.replaceAll(/\W+/g, '-').replace(/^-api-/, '')}.json`;
}

/** Returns a program that sends the same request with this repository's client. `url` is the requested URL. */
function asTypeScript({ path, parts }: Call, url: string): string {
  const literal = (value: unknown) =>
    /^(0|[1-9]\d{0,14})$/.test(String(value)) ? String(value) : JSON.stringify(value);
  const members = (values: Iterable<readonly [string, unknown]>) =>
    [...values]
      .filter(([, value]) => typeof value === 'string')
      .map(([name, value]) => `${name}: ${literal(value)}`)
      .join(', ');
  const given = { path: Object.entries(parts), query: new URL(url, location.origin).searchParams };
  const places = (['path', 'query'] as const)
    .map((place) => [place, members(given[place])] as const)
    .filter(([, given]) => given !== '')
    .map(([place, given]) => `${place}: { ${given} }`);
  const options = places.length === 0 ? '' : `, { params: { ${places.join(', ')} } }`;
  return `import { createVerustreamClient } from 'verustream-client';

const verustream = createVerustreamClient({ baseUrl: ${JSON.stringify(location.origin)}, numbers: 'text'${needsSession(url) ? TYPESCRIPT_TOKEN : ''} });
const { data, error } = await verustream.GET(${JSON.stringify(path)}${options});
`;
}

interface GuardProps {
  /** When the answer arrived. */
  readonly at: number;
  readonly children: ComponentChildren;
}

/** Error boundary: a view that fails on one answer leaves the other panels in place. */
class Guard extends Component<GuardProps, { readonly error: Error | null }> {
  override state = { error: null };
  static override getDerivedStateFromError = (error: Error) => ({ error });
  /** Keeps what the reader has opened when a new answer arrives, and renders again after a failure. */
  override componentDidUpdate({ at }: GuardProps): void {
    if (at !== this.props.at && this.state.error !== null) this.setState({ error: null });
  }
  override render() {
    const error: Error | null = this.state.error;
    if (error === null) return this.props.children;
    return (
      <div role="alert" class="alert" data-code="page_error">
        <strong>The page could not show this</strong> <span>{String(error)}</span>
      </div>
    );
  }
}
