/** A parameter of the address with few values, as links. */
import { address, replaceQuery } from '../state/place.ts';

interface ChoicesProps {
  /** What is chosen, for who cannot see it. */
  readonly label: string;
  readonly parameter: string;
  /** Value → words; the first one stands where the address has none. */
  readonly options: Readonly<Record<string, string>>;
  /** Where it is not the first one. */
  readonly standard?: string;
  /** The reader stays where the view is scrolled to: it stands far down. */
  readonly isInPlace?: boolean;
}

export function Choices(props: ChoicesProps) {
  const { label, parameter, options, standard = Object.keys(options)[0], isInPlace = false } = props;
  const url = new URL(address.value, location.origin);
  const chosen = url.searchParams.get(parameter) ?? standard;
  const hrefWith = (value: string) => {
    const other = new URL(url);
    other.searchParams.set(parameter, value);
    return `${other.pathname}${other.search}`;
  };
  return (
    <nav class="choices" aria-label={label}>
      {Object.entries(options).map(([value, words]) => (
        <a
          key={value}
          href={hrefWith(value)}
          aria-current={value === chosen ? 'true' : undefined}
          onClick={(event) => {
            if (!isInPlace || event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            replaceQuery({ [parameter]: value });
          }}
        >
          {words}
        </a>
      ))}
    </nav>
  );
}
