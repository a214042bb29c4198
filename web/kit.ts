/**
 * The parts that views are made of. Views import only from here, so each view needs two files: this one and its own. Otherwise the
 * compiler would split the parts into one file for every combination of views.
 */
export { hrefOf } from './addresses.ts';
export { type AnswerOf, type BodyOf, call } from './calls.ts';
export { conversionHref } from './conversion-href.ts';
export { foundHref } from './found-href.ts';
export { Alert } from './parts/alert.tsx';
export { Amounts, OtherCoins } from './parts/amounts.tsx';
export { blockColumn } from './parts/block-column.ts';
export { Chart, type ChartSeries } from './parts/chart.tsx';
export { Choices } from './parts/choices.tsx';
export { Given, Paid } from './parts/conversion-amounts.tsx';
export { Copy } from './parts/copy.tsx';
export { Dialog } from './parts/dialog.tsx';
export { Field, Fields } from './parts/fields.tsx';
export { GroupedChart } from './parts/grouped-chart.tsx';
export { handleSubmit } from './parts/handle-submit.ts';
export { JsonTree } from './parts/json-tree.tsx';
export { NotThere } from './parts/not-there.tsx';
export { PagedTable } from './parts/paged-table.tsx';
export { Pager } from './parts/pager.tsx';
export { Panel } from './parts/panel.tsx';
export { AddressLink, Currency, NameOf, Party } from './parts/party.tsx';
export { Pick } from './parts/pick.tsx';
export { PlainTable } from './parts/plain-table.tsx';
export { Proof } from './parts/proof.tsx';
export { Qr } from './parts/qr.tsx';
export { useRefresh } from './parts/refresh.ts';
export { RevertedBanner } from './parts/reverted-banner.tsx';
export { SaidAt } from './parts/said-at.tsx';
export { SaveLink } from './parts/save-link.tsx';
export { At, useLeaf, usePointer } from './parts/scope.tsx';
export { percentOf, Share } from './parts/share.tsx';
export { Sparkline } from './parts/sparkline.tsx';
export { Status } from './parts/status.tsx';
export { type Column, Table } from './parts/table.tsx';
export { Tabs, tabOf } from './parts/tabs.tsx';
export { Id, Text } from './parts/text.tsx';
export { Value } from './parts/value.tsx';
export { type Period, VolumeChart } from './parts/volume-chart.tsx';
export {
  GoneNews,
  newsSince,
  OutcomeText,
  StandingBanner,
  StreamedCoins,
  TransactionLink,
  Unconfirmed,
} from './parts/waiting.tsx';
export { WhenSeen } from './parts/when-seen.tsx';
export { type ActOutcome, act } from './state/act.ts';

export { type Answer, ask, isAnswerOf } from './state/answers.ts';
export { now } from './state/clock.ts';
export { type BlockOfLane, type Lane, laneOf, lanes, layAnswer } from './state/lanes.ts';
export { type ConversionNews, news } from './state/live.ts';
export { logOut } from './state/logout.ts';
export { mempoolOf, type Outcome, outcomeOf, outcomes, standingOf, type Waiting } from './state/mempool.ts';
export { nameOf } from './state/names.ts';
export { address, followsStream, hrefWith, navigate, ownHref, replaceQuery } from './state/place.ts';
export type { PriceNews } from './state/price-news.ts';
export { saveAnswer } from './state/save-answer.ts';
export { chainNames, nativeNameOf, service, spanOfBlocks } from './state/service.ts';
export { chooseSession, msLeft, openSession, type Session, session, sessions } from './state/session.ts';
export { timeZone } from './state/settings.ts';
export { useNames } from './state/thing.ts';
export { noteTip } from './state/tips.ts';
export type { Trouble } from './state/trouble.ts';
export { inertText } from './text/inert.ts';
export { listOfNames, namesIn } from './text/name-lists.ts';
export { shownNumber } from './text/numbers.ts';
export { receiverExample } from './text/receiver-example.ts';
export { signatureIn } from './text/signature.ts';
export { shownSpan, shownTime } from './text/times.ts';
export type { ViewProps } from './view-props.ts';
export {
  ADDRESS_TABS,
  CONVERSION_PARAMETERS,
  IDENTITY_TABS,
  USAGE_STEPS,
  type UsageStep,
  usageSpanOf,
  usageStepOf,
} from './views.ts';
