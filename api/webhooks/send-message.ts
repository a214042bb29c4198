/** One attempt: a signed POST to a receiver that is trusted with nothing, neither its address nor its answer. */
import { Agent, buildConnector, request } from 'undici';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { Logger } from '../../infra/logger.ts';
import {
  AddressForbidden,
  type AllowsAddress,
  bareHost,
  checkedLookup,
  checkReceiverUrl,
  ReceiverRefused,
  type Resolve,
  receiverPolicy,
} from './receiver-address.ts';
import { retryAfterMs } from './retry-schedule.ts';
import { signatures } from './secrets.ts';
import { readBeginning, type ShownAnswer, shownAnswer } from './shown-answer.ts';

export interface OutgoingMessage {
  /** webhook-id: the same in every attempt. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** `whsec_…`; each secret signs, so that a receiver may have the old or the new one during a rotation. */
  readonly secrets: readonly string[];
}

export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** The receiver will never accept a message again. */
  | { readonly kind: 'gone'; readonly status: number }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly error: string;
      /** Delay requested by the receiver, in milliseconds. */
      readonly retryAfterMs: number | null;
    };

/** The outcome, and the receiver's answer; null if it did not answer. */
export interface Attempt {
  readonly outcome: DeliveryOutcome;
  readonly answer: ShownAnswer | null;
}

export interface Sender {
  /** @throws the signal's reason once it aborts; everything else is an outcome */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Attempt>;
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Whether to send to this machine, too, over https and http. */
  readonly allowLocal: boolean;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly timeoutMs?: number | undefined;
  readonly resolve: Resolve;
}

/** Milliseconds for a whole attempt, from the name look-up to the end of the answer. */
const TIMEOUT_MS = 15_000;
const CONNECT_MS = 5_000;
/** Bytes of an answer to read so that its connection can be reused; after a longer answer the connection is closed. */
const READ_BYTES = 16 * 1024;
const GONE = 410;

/**
 * Every failure has the same text; otherwise strangers could use the service to find out which ports are open, and
 * which names exist in the network of this machine.
 */
const NO_ANSWER = 'no answer: every address of the receiver must be public, and https must answer there in time';

export function createSender(options: SenderOptions): Sender {
  const { allowLocal, logger, userAgent, timeoutMs = TIMEOUT_MS, resolve } = options;
  const agent = new Agent({
    connect: checkedConnector(receiverPolicy(allowLocal), resolve),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    close: () => agent.destroy(),
    async send({ id, url, body, secrets }, stop) {
      const limit = new AbortController();
      const abort = () => limit.abort();
      stop.addEventListener('abort', abort, { once: true });
      const timer = setTimeout(abort, timeoutMs);
      try {
        stop.throwIfAborted();
        checkReceiverUrl(url, allowLocal); // it may have been registered under other rules
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'user-agent': userAgent,
            ...signatures(id, new Date(), body, secrets),
          },
          body,
          signal: limit.signal,
        });
        // Only the status counts; the rest is for the owner to see.
        const said = await readBeginning(answer.body, READ_BYTES);
        return { outcome: outcomeOf(answer.statusCode, answer.headers['retry-after']), answer: shownAnswer(said) };
      } catch (error) {
        stop.throwIfAborted();
        logger.debug({ err: error, delivery: id }, 'the receiver did not answer a webhook message');
        const why = error instanceof ReceiverRefused ? error.message : NO_ANSWER;
        return { outcome: { kind: 'failed', status: null, error: why, retryAfterMs: null }, answer: null };
      } finally {
        clearTimeout(timer);
        stop.removeEventListener('abort', abort);
      }
    },
  };
}

/** Checks the address of a connection in the call that connects. */
function checkedConnector(allows: AllowsAddress, resolve: Resolve): buildConnector.connector {
  const connectors = new Map<string, buildConnector.connector>();
  const connectorOf = (protocol: string) =>
    getOrInsert(connectors, protocol, () => {
      const lookup = checkedLookup((address) => allows(address, protocol), resolve);
      // undici's types only know a lookup of one address; net.connect asks for all addresses.
      return buildConnector({ lookup, timeout: CONNECT_MS } as unknown as buildConnector.BuildOptions);
    });
  return (options, done) => {
    const host = bareHost(options.hostname);
    // There is no lookup if the host is an address.
    if (/^[\d.]+$|:/.test(host) && !allows(host, options.protocol)) {
      done(new AddressForbidden(), null);
      return;
    }
    connectorOf(options.protocol)(options, done);
  };
}

function outcomeOf(status: number, retryAfter: string | string[] | undefined): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === GONE) return { kind: 'gone', status };
  const error = status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`;
  return { kind: 'failed', status, error, retryAfterMs: retryAfterMs(retryAfter, Date.now()) };
}
