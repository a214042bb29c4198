/** Links that set a parameter of the address to one of a few values. */
import { address, hrefWith, replaceQuery } from '../state/place.ts';

interface ChoicesProps {
  /** What the reader chooses, for screen readers. */
  readonly label: string;
  readonly parameter: string;
  /** Value → words; the first value is the default. */
  readonly options: Readonly<Record<string, string>>;
  /** The default value, when it is not the first one. */
  readonly standard?: string;
  /** Keeps the scroll position: for choices far down in a view. */
  readonly isInPlace?: boolean;
}

export function Choices(props: ChoicesProps) {
  const { label, parameter, options, standard = Object.keys(options)[0], isInPlace = false } = props;
  const chosen = new URL(address.value, location.origin).searchParams.get(parameter) ?? standard;
  return (
    <nav class="choices" aria-label={label}>
      {Object.entries(options).map(([value, words]) => (
        <a
          key={value}
          href={hrefWith({ [parameter]: value })}
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
