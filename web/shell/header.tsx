/** The top of every view: chains, search, settings. */
import { type Signal, useComputed } from '@preact/signals';
import { hrefOf } from '../addresses.ts';
import { Icon, PAUSE, PLAY } from '../parts/icons.tsx';
import { now } from '../state/clock.ts';
import { isPaused, streamState } from '../state/live.ts';
import { place } from '../state/place.ts';
import { chainNames, recordingOf, service } from '../state/service.ts';
import { THEMES, TIMES, theme, timeZone } from '../state/settings.ts';
import { tips } from '../state/tips.ts';
import { shownSpan } from '../text/times.ts';
import { Search } from './search.tsx';
import { Who } from './who.tsx';

/** A chain without a block for this long is shown as standing still. */
const STILL_MS = 15 * 60_000;

const SECTIONS = [
  { name: 'live', words: 'Live' },
  { name: 'market', words: 'Market' },
  { name: 'conversions', words: 'Conversions' },
  { name: 'convert', words: 'Converter' },
] as const;

export function Header() {
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href="/">
          verustream
        </a>
        <Search />
        <Choice label="Theme" options={THEMES} names={['System', 'Light', 'Dark']} chosen={theme} />
        <Choice label="Times" options={TIMES} names={['Local', 'UTC']} chosen={timeZone} />
        <Pause />
        <Who />
      </div>
      <nav aria-label="Main">
        {SECTIONS.map(({ name, words }) => (
          <a key={name} href={hrefOf(name, {})} aria-current={place.value?.name === name ? 'page' : undefined}>
            {words}
          </a>
        ))}
        {chainNames.map((chain) => (
          <ChainTip key={chain} chain={chain} />
        ))}
        {service.recordings.length > 0 && (
          <span class="muted">Bundled recordings of private test chains, played as if they were live.</span>
        )}
      </nav>
    </header>
  );
}

function ChainTip({ chain }: { readonly chain: string }) {
  const tip = tips.value[chain];
  const age = tip?.time == null ? null : now.value - tip.time;
  const recording = recordingOf(chain);
  const state = useComputed(() => {
    if (streamState.value !== 'live') return streamState.value.replace('-', ' ');
    const { height = 0, time = null } = tips.value[chain] ?? {};
    if (recording) return height >= recording.tip ? 'ended' : 'live';
    return time !== null && now.value - time > STILL_MS ? 'standing still' : 'live';
  });
  const isHere = place.value?.parts.chain === chain;
  return (
    <a
      class="chain"
      href={hrefOf('chain', { chain })}
      aria-current={isHere ? 'true' : undefined}
      title={recording?.text}
    >
      <strong>{chain}</strong> {tip && <span class="number">{tip.height.toLocaleString('en-US')}</span>}{' '}
      <span class="muted">
        {age !== null && `${recording ? 'recorded ' : ''}${shownSpan(age)} ago · `}
        {state}
      </span>
    </a>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly options: readonly Value[];
  readonly names: readonly string[];
  readonly chosen: Signal<Value>;
}

function Choice<Value extends string>({ label, options, names, chosen }: ChoiceProps<Value>) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map((option, index) => (
        <label key={option}>
          <input
            type="radio"
            name={label}
            value={option}
            checked={chosen.value === option}
            onChange={() => {
              chosen.value = option;
            }}
          />
          <span>{names[index]}</span>
        </label>
      ))}
    </div>
  );
}

function Pause() {
  return (
    <button
      type="button"
      class="pause"
      aria-label="Pause live updates"
      aria-pressed={isPaused.value}
      onClick={() => {
        isPaused.value = !isPaused.value;
      }}
    >
      <Icon path={isPaused.value ? PLAY : PAUSE} />
    </button>
  );
}
