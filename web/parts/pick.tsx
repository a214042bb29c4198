/** A filter of the view: a parameter of the API with few values. */
import { useId } from 'preact/hooks';
import { replaceQuery } from '../state/place.ts';
import { inertText } from '../text/inert.ts';

interface PickProps {
  /** Name of the parameter in the API and in the address. */
  readonly name: string;
  readonly options: readonly string[];
  /** Whether the options are names from the chain, of which nothing is rewritten, instead of words of the API. */
  readonly areNames?: boolean;
  readonly query: URLSearchParams;
  /** The label of the empty choice. */
  readonly none?: string;
}

export function Pick({ name, options, areNames = false, query, none = 'any' }: PickProps) {
  const id = useId();
  return (
    <span class="pick">
      <label for={id}>{name}</label>
      <select
        id={id}
        name={name}
        value={query.get(name) ?? ''}
        onChange={({ currentTarget: { value } }) =>
          replaceQuery({ [name]: value === '' ? null : value, page: null, cursor: null, before: null })
        }
      >
        <option value="">{none}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {areNames ? inertText(option) : option.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </span>
  );
}
