/** An identity, now or at any height: its state, updates, content and referrals. */
import { useRef } from 'preact/hooks';
import { type Answer, IDENTITY_TABS, isAnswerOf, replaceQuery, Tabs, tabOf, useNames, type ViewProps } from '../kit.ts';
import { Content } from './identity-content.tsx';
import { HeightSlider } from './identity-height.tsx';
import { History, updatesIn } from './identity-history.tsx';
import { Referrals } from './identity-referrals.tsx';
import { State } from './identity-state.tsx';
import { IdentityWaiting } from './identity-waiting.tsx';

export function View({ parts: { chain }, query, answers: [identity, changes, list] }: ViewProps<'identity'>) {
  const state = useKept(identity);
  useNames({ name: state.shown.value?.data.friendlyName });
  const updates = changes.shown.value && updatesIn(changes.shown.value.data);
  return (
    <>
      {updates && (
        <HeightSlider {...updates} height={query.get('height')} onHeight={(height) => replaceQuery({ height })} />
      )}
      {!changes.shown.value && !changes.trouble.value && <div class="frame short" aria-busy="true" />}
      <IdentityWaiting answer={state} chain={chain} />
      <State answer={state} chain={chain} />
      <Tabs label="Of the identity" tabs={IDENTITY_TABS} chosen={tabOf(IDENTITY_TABS, query)}>
        {isAnswerOf(list, '/api/identity/{nameOrId}/changes') && <History answer={list} chain={chain} />}
        {isAnswerOf(list, '/api/identity/{nameOrId}/multimap') && <Content answer={list} />}
        {isAnswerOf(list, '/api/identity/{nameOrId}/referrals') && <Referrals answer={list} chain={chain} />}
      </Tabs>
    </>
  );
}

/** Keeps the previous answer until the next one arrives, so that moving the slider does not empty the view. */
function useKept<Kept extends Answer<'/api/identity/{nameOrId}'>>(answer: Kept): Kept {
  const before = useRef(answer);
  if (answer.shown.value || answer.trouble.value) before.current = answer;
  return before.current;
}
