/** Signs of trouble in a process' metrics that the fault under test does not explain; a busy machine can cause them for a moment. */
import type { AlertFault } from './alert-faults.ts';

/** By alert: the metric lines that make it fire according to infra/deploy/prometheus/alerts.yml. */
const SIGNS: Readonly<Record<string, RegExp>> = {
  DaemonAway: /^verustream_unready_reason\{chain="[^"]+",stage="",code="(?:daemon_\w+|wrong_chain)",.*\} 1$/gm,
  DaemonUnwell: /^verustream_daemon_healthy\{.*\} 0$/gm,
  ChainStandsStill: /^verustream_unready_reason\{chain="[^"]+",.*code="stalled",.*\} 1$/gm,
  StageWaits: /^verustream_unready_reason\{chain="[^"]+",.*code="stage_waiting",.*\} 1$/gm,
  StageSilent: /^verustream_unready_reason\{chain="[^"]+",.*code="not_reporting",.*\} 1$/gm,
  StoreFails: /^verustream_unready_reason\{chain="",.*code="(?!\w+_overloaded")\w+",.*\} 1$/gm,
  NoRoom: /^verustream_unready_reason\{chain="",.*code="\w+_overloaded",.*\} 1$/gm,
};

/** Returns lines about the fault's chain, or about no chain, that would fire an alert which the fault's row of the table does not name. */
export function disturbances(text: string | null, { chain, fires, leftOut }: AlertFault): string[] {
  const known = [...fires, ...leftOut];
  if (text === null) return known.includes('ProcessAway') ? [] : ['the process did not answer'];
  const concerns = (line: string) => {
    const [, of = ''] = /[{,]chain="([^"]*)"/.exec(line) ?? [];
    return chain === null || of === '' || of === chain;
  };
  return Object.entries(SIGNS)
    .filter(([alert]) => !known.includes(alert))
    .flatMap(([, sign]) => text.match(sign) ?? [])
    .filter(concerns);
}
