/** The filters of conversions: each control is a parameter of the API, and the address carries all of them. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Answer, type CONVERSION_PARAMETERS, handleSubmit, hrefOf, navigate, type Trouble } from '../kit.ts';

type Filters = Answer<'/api/conversions/filters'>;
type Choices = NonNullable<Filters['shown']['value']>['data'];
type Parameter = Exclude<(typeof CONVERSION_PARAMETERS)[number], 'page' | 'cursor'>;

interface Control {
  readonly help: string;
  /** Options of a select. */
  readonly options?: (choices: Choices) => readonly string[];
  /** Suggestions while the reader types. */
  readonly offers?: (choices: Choices) => readonly { readonly name: string }[];
  readonly placeholder?: string;
  /** Label for the absence of a value. */
  readonly without?: string;
}

const DAY = '2026-05-17';
const CONTROLS: Readonly<Record<Parameter, Control>> = {
  chain: { help: 'Chain of the request', options: ({ chains }) => chains, without: 'default' },
  from: { help: 'Currency given: name or i-address', offers: ({ currencies }) => currencies },
  to: { help: 'Currency wanted: name or i-address', offers: ({ currencies }) => currencies },
  basket: { help: 'Basket that executes it: name or i-address', offers: ({ baskets }) => baskets },
  status: { help: 'How it ended', options: ({ statuses }) => statuses },
  type: { help: 'What was asked for', options: ({ types }) => types },
  address: { help: 'Sender or receiver', placeholder: 'name@ or address' },
  minUsd: { help: 'Least USD value', placeholder: 'such as 100' },
  maxUsd: { help: 'Greatest USD value', placeholder: 'such as 5000' },
  diverged: { help: 'Whether the USD of both sides differ by more than 10 %', options: () => ['true', 'false'] },
  fromTime: { help: 'Requested at or after: ISO 8601 or seconds since the epoch', placeholder: DAY },
  toTime: { help: 'Requested before: ISO 8601 or seconds since the epoch', placeholder: DAY },
  fromHeight: { help: 'Requested in this block or later', placeholder: 'such as 1000' },
  toHeight: { help: 'Requested in this block or earlier', placeholder: 'such as 2000' },
  executedFromTime: { help: 'Executed at or after: ISO 8601 or seconds since the epoch', placeholder: DAY },
  executedToTime: { help: 'Executed before: ISO 8601 or seconds since the epoch', placeholder: DAY },
  executedFromHeight: { help: 'Executed in this block or later', placeholder: 'such as 1000' },
  executedToHeight: { help: 'Executed in this block or earlier', placeholder: 'such as 2000' },
  sort: {
    help: 'Newest or oldest request first, or largest value first',
    options: () => ['newest', 'oldest', 'largest'],
    without: 'default',
  },
  pageSize: { help: 'Rows of a page', options: () => ['10', '25', '50', '100', '200'], without: 'default' },
};
/** A longer list would be slow to open; the reader can type any name. */
const MOST_OFFERS = 1000;

/** Name of the control that had the focus when the address changed. */
let focused: string | null = null;

interface FiltersProps {
  readonly query: URLSearchParams;
  readonly answer: Filters;
  /** Why the list could not be read; its parameters may be wrong. */
  readonly trouble: Trouble | null;
}

export function ConversionFilters({ query, answer, trouble }: FiltersProps) {
  const form = useRef<HTMLFormElement>(null);
  const choices = answer.shown.value?.data;
  useLayoutEffect(() => {
    if (focused !== null) form.current?.querySelector<HTMLElement>(`[name="${focused}"]`)?.focus();
    focused = null;
  }, []);
  const apply = () => {
    if (!form.current) return;
    const { activeElement } = document;
    const given = Object.fromEntries(
      [...new FormData(form.current)].map(([name, value]) => [name, String(value).trim() || null]),
    );
    const href = hrefOf('conversions', {}, given);
    if (href === hrefOf('conversions', {}, filtersOf(query))) return;
    focused = activeElement?.getAttribute('name') ?? null;
    navigate(href);
  };
  return (
    <form ref={form} class="panel filters" aria-label="Filter conversions" onSubmit={handleSubmit(apply)}>
      {Object.entries(CONTROLS).map(([name, control]) => (
        <Labelled
          key={name}
          name={name}
          control={control}
          value={query.get(name) ?? ''}
          choices={choices}
          isWrong={trouble?.parameters.includes(name) ?? false}
          apply={apply}
        />
      ))}
      <div class="actions">
        <button type="submit">Filter</button>
        <a href={hrefOf('conversions', {})}>Clear</a>
      </div>
    </form>
  );
}

/** Filters in the form that the form's own data has. */
function filtersOf(query: URLSearchParams) {
  return Object.fromEntries(Object.keys(CONTROLS).map((name) => [name, query.get(name) || null]));
}

interface LabelledProps {
  readonly name: string;
  readonly control: Control;
  readonly value: string;
  readonly choices: Choices | undefined;
  readonly isWrong: boolean;
  readonly apply: () => void;
}

function Labelled({ name, control, value, choices, isWrong, apply }: LabelledProps) {
  const { help, options, offers, placeholder, without = 'any' } = control;
  const shared = { id: `filter-${name}`, name, title: help, 'aria-invalid': isWrong };
  const known = choices && options ? options(choices) : [];
  return (
    <div>
      <label for={shared.id}>{name}</label>
      {options ? (
        <select {...shared} onChange={apply}>
          <option value="">{without}</option>
          {[...new Set([...known, ...(value === '' ? [] : [value])])].map((option) => (
            <option key={option} value={option} selected={option === value}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          type="text"
          defaultValue={value}
          placeholder={placeholder}
          list={offers ? `offers-${name}` : undefined}
          autocomplete="off"
          spellcheck={false}
        />
      )}
      {offers && (
        <datalist id={`offers-${name}`}>
          {choices &&
            offers(choices)
              .slice(0, MOST_OFFERS)
              .map((offer) => <option key={offer.name} value={offer.name} />)}
        </datalist>
      )}
    </div>
  );
}
