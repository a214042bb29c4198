/** A filter of the view: a parameter of the API with few values. */
import { useId } from 'preact/hooks';
import { replaceQuery } from '../state/place.ts';

interface PickProps {
  /** Name of the parameter in the API and in the address. */
  readonly name: string;
  readonly options: readonly string[];
  readonly query: URLSearchParams;
  /** The label of the empty choice. */
  readonly none?: string;
}

export function Pick({ name, options, query, none = 'any' }: PickProps) {
  const id = useId();
  return (
    <span class="pick">
      <label for={id}>{name}</label>
      <select
        id={id}
        name={name}
        value={query.get(name) ?? ''}
        onChange={({ currentTarget: { value } }) =>
          replaceQuery({ [name]: value === '' ? null : value, page: null, cursor: null })
        }
      >
        <option value="">{none}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </span>
  );
}
