/** Tabs of a view; the address names the chosen tab. */

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { replaceQuery } from '../state/place.ts';

interface TabsProps<Tab extends string> {
  readonly label: string;
  readonly tabs: Readonly<Record<Tab, string>>;
  readonly chosen: Tab;
  /** Content of the chosen tab. */
  readonly children: ComponentChildren;
}

export function Tabs<Tab extends string>({ label, tabs, chosen, children }: TabsProps<Tab>) {
  const id = useId();
  const names = Object.keys(tabs) as Tab[];
  const choose = (tab: string) => replaceQuery({ tab: tab === names[0] ? null : tab, page: null, cursor: null });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: names.length - 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = names[(names.indexOf(chosen) + step) % names.length];
    if (next === undefined) return;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label}>
        {names.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
            onKeyDown={onKeyDown}
          >
            {tabs[tab]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}

/** The tab that the address names, or the first tab when it names none of them. */
export function tabOf<Tab extends string>(tabs: Readonly<Record<Tab, string>>, query: URLSearchParams): Tab {
  const names = Object.keys(tabs) as [Tab, ...Tab[]];
  return names.find((tab) => tab === query.get('tab')) ?? names[0];
}
