/** The properties that the page passes to a view. */
import type { Place } from './addresses.ts';
import type { Call } from './calls.ts';
import type { Answer } from './state/answers.ts';
import type { ViewName, views } from './views.ts';

type AnswersOf<Calls> = {
  readonly [Index in keyof Calls]: Calls[Index] extends Call<infer Path> ? Answer<Path> : never;
};
type ViewOf<Name extends ViewName> = (typeof views)[Name];

export interface ViewProps<Name extends ViewName> {
  readonly place: Place;
  /** Parts of the address. */
  readonly parts: Parameters<ViewOf<Name>['calls']>[0];
  readonly query: URLSearchParams;
  /** Answers to the calls that the table of views lists, in the same order. */
  readonly answers: AnswersOf<ReturnType<ViewOf<Name>['calls']>>;
}
