/**
 * What views are made of. Views import from here alone: each then needs two files, this one and its own, where the compiler would
 * otherwise cut the parts into a file for every combination of views.
 */
export { hrefOf } from './addresses.ts';
export { type AnswerOf, call } from './calls.ts';
export { conversionHref } from './conversion-href.ts';
export { foundHref } from './found-href.ts';
export { Alert } from './parts/alert.tsx';
export { Chart, type ChartSeries } from './parts/chart.tsx';
export { Choices } from './parts/choices.tsx';
export { Copy } from './parts/copy.tsx';
export { Field, Fields } from './parts/fields.tsx';
export { JsonTree } from './parts/json-tree.tsx';
export { NotThere } from './parts/not-there.tsx';
export { Pager } from './parts/pager.tsx';
export { Panel } from './parts/panel.tsx';
export { AddressLink, Currency, NameOf, Party } from './parts/party.tsx';
export { Pick } from './parts/pick.tsx';
export { Proof } from './parts/proof.tsx';
export { RevertedBanner } from './parts/reverted-banner.tsx';
export { SaidAt } from './parts/said-at.tsx';
export { At, useLeaf, usePointer } from './parts/scope.tsx';
export { Sparkline } from './parts/sparkline.tsx';
export { type Column, Table } from './parts/table.tsx';
export { Tabs, tabOf } from './parts/tabs.tsx';
export { Id, Text } from './parts/text.tsx';
export { Value } from './parts/value.tsx';
export { type Period, VolumeChart } from './parts/volume-chart.tsx';
export { OutcomeText, StandingBanner, StreamedCoins, TransactionLink, Unconfirmed } from './parts/waiting.tsx';
export { WhenSeen } from './parts/when-seen.tsx';
export { type Answer, ask, isAnswerOf } from './state/answers.ts';
export { now } from './state/clock.ts';
export { type BlockOfLane, type Lane, laneOf, lanes, layAnswer } from './state/lanes.ts';
export { type ConversionNews, news } from './state/live.ts';
export { mempoolOf, type Outcome, outcomeOf, outcomes, standingOf, type Waiting } from './state/mempool.ts';
export { nameOf } from './state/names.ts';
export { address, followsStream, navigate, replaceQuery } from './state/place.ts';
export type { PriceNews } from './state/price-news.ts';
export { chainNames, nativeNameOf, service, spanOfBlocks } from './state/service.ts';
export { timeZone } from './state/settings.ts';
export { noteTip } from './state/tips.ts';
export type { Trouble } from './state/trouble.ts';
export { inertText } from './text/inert.ts';
export { shownNumber } from './text/numbers.ts';
export { shownSpan, shownTime } from './text/times.ts';
export type { ViewProps } from './view-props.ts';
export { ADDRESS_TABS, CONVERSION_PARAMETERS, IDENTITY_TABS } from './views.ts';
