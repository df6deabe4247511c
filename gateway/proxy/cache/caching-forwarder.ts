import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import { DeadlineExceeded } from "../../request/errors.ts";
import { EncodableResponse } from "../delivery/encodable-response.ts";
import {
  askFor,
  askUntilGone,
  type ForwarderOptions,
  leftOf,
  sendAnswer,
  tagsOf,
} from "../delivery/forwarder.ts";
import type { Answer } from "../upstream/check-response.ts";
import { cacheKeyOf } from "./cache-key.ts";
import { PassingMap } from "./fixed-hash-map.ts";
import { freshMsOf } from "./freshness.ts";
import { Flight } from "./in-flight.ts";
import type { Entry, ResponseCache } from "./response-cache.ts";

/**
 * How an answer came about, as X-Cache and the metrics say: kept and fresh (hit), kept and found unchanged by its
 * service (revalidated), another client's question (coalesced), or asked for (miss).
 */
export const CACHE_WORDS = ["hit", "revalidated", "coalesced", "miss"] as const;
export type CacheWord = (typeof CACHE_WORDS)[number];

export interface CachedForwardOptions extends ForwarderOptions {
  readonly kept: ResponseCache;
  readonly onAnswer?: (word: CacheWord) => void;
}

/** What became of a question: a table for all who wait, or something that goes by once (a long body) or has none (304). */
type Outcome =
  | { readonly answer: EncodableResponse; readonly word: "miss" | "revalidated" }
  | { readonly passing: Answer; isTaken: boolean };

/**
 * Gives tables again while their services say that they are fresh, and asks once for all who ask the same at the same
 * time. What is no longer fresh is asked for by its tag, so that a service that has nothing new sends no body. Errors
 * are never kept, and neither are long answers, which go by. Whoever comes here has passed every gate.
 */
export function createCachingForwarder(options: CachedForwardOptions): RequestForwarder {
  const { kept, clock, delivery, onAnswer = () => {} } = options;
  const flights = new PassingMap<Flight<Outcome>>();

  const note = (passage: RequestContext, word: CacheWord): string[] => {
    passage.fields.cache = word;
    onAnswer(word);
    return ["X-Cache", word];
  };

  const sendPassing = (passage: RequestContext, answer: Answer) =>
    sendAnswer(passage, answer, { delivery, more: note(passage, "miss") });

  const sendKept = (passage: RequestContext, { answer, askedAtMs }: Entry) => {
    const ageSeconds = Math.floor((clock.monotonicMs() - askedAtMs) / 1000);
    return delivery.sendWhole(passage, answer, [...note(passage, "hit"), "Age", String(ageSeconds)]);
  };

  /** What is sent of a whole table, kept if it may be. */
  const keep = (
    {
      key,
      askedAtMs,
      isWanted,
    }: { readonly key: string; readonly askedAtMs: number; readonly isWanted: boolean },
    { headers, body }: Answer,
  ) => {
    const answer = new EncodableResponse({ headers, body: body as Buffer });
    const freshMs = freshMsOf(headers["cache-control"]);
    if (freshMs > 0) kept.put({ key, askedAtMs, answer, freshUntilMs: askedAtMs + freshMs }, isWanted);
    return answer;
  };

  /** Its service says that nothing has changed: the body stays, and what the new headers tell. */
  const renew = (entry: Entry, askedAtMs: number, { headers }: Answer): EncodableResponse => {
    const { "content-type": _none, ...told } = headers;
    const { answer } = entry;
    entry.answer = new EncodableResponse(
      { headers: { ...answer.headers, ...told }, body: answer.body },
      answer,
    );
    entry.askedAtMs = askedAtMs;
    entry.freshUntilMs = askedAtMs + freshMsOf(entry.answer.headers["cache-control"]);
    kept.put(entry);
    return entry.answer;
  };

  /** Asks on behalf of all who join, until there is an answer. */
  const depart = (passage: RequestContext, key: string, stale: Entry | undefined): Flight<Outcome> => {
    const askedAtMs = clock.monotonicMs();
    const name = flightName(passage, key, stale);
    // A flight that was given up may be followed by another of its name before it hears of its end.
    const strike = () => flights.remove(name, flight);
    const arrive = (answer: Answer): void => {
      const isWhole = answer.status === 200 && Buffer.isBuffer(answer.body);
      const isWanted = flight.size > 1;
      if (isWhole) flight.land({ answer: keep({ key, askedAtMs, isWanted }, answer), word: "miss" });
      else if (answer.status === 304 && stale?.answer.etag !== undefined) {
        flight.land({ answer: renew(stale, askedAtMs, answer), word: "revalidated" });
      } else flight.land({ passing: answer, isTaken: false });
    };
    const onAnswer = (answer: Answer): void => {
      strike();
      try {
        arrive(answer);
      } catch (error) {
        // Whoever told of the answer has no more to tell: those who wait would do so for ever.
        flight.fail(error);
      }
    };
    const onFailure = (error: unknown): void => {
      strike();
      flight.fail(error);
    };
    const ifNoneMatch = stale?.answer.etag ?? tagsOf(passage);
    const asked = askFor(passage, { ifNoneMatch, asker: { onAnswer, onFailure } }, options);
    const flight = new Flight<Outcome>(() => {
      strike();
      asked.abandon();
    });
    flights.add(name, flight);
    return flight;
  };

  /** Asks for this request alone; keeps what may be kept. */
  const askAlone = async (passage: RequestContext, key: string | undefined): Promise<void> => {
    const askedAtMs = clock.monotonicMs();
    const answer = await askUntilGone(passage, options);
    if (answer === undefined) return;
    if (key === undefined || answer.status !== 200 || !Buffer.isBuffer(answer.body)) {
      return sendPassing(passage, answer);
    }
    await delivery.sendWhole(
      passage,
      keep({ key, askedAtMs, isWanted: false }, answer),
      note(passage, "miss"),
    );
  };

  const land = (passage: RequestContext, outcome: Outcome, isFirst: boolean): void | Promise<void> => {
    if ("answer" in outcome) {
      const { answer, word } = outcome;
      return delivery.sendWhole(passage, answer, note(passage, isFirst ? word : "coalesced"));
    }
    const { passing, isTaken } = outcome;
    if (isTaken && !Buffer.isBuffer(passing.body)) return askAlone(passage, undefined);
    outcome.isTaken = true;
    return sendPassing(passage, passing);
  };

  /** Joins the question that is under way, or begins one. */
  const fly = (passage: RequestContext, key: string, stale: Entry | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const name = flightName(passage, key, stale);
      const end = (outcome: Outcome | undefined, isFirst: boolean): void => {
        try {
          resolve(outcome && land(passage, outcome, isFirst));
        } catch (error) {
          reject(error);
        }
      };
      const join = (flight: Flight<Outcome>): void => {
        const error = new DeadlineExceeded(options.deadlineMs);
        const onFailure = (failure: unknown): void => {
          // Else the deadline of who asked first is over, this one's is not.
          if (failure === error || !(failure instanceof DeadlineExceeded)) reject(failure);
          else board();
        };
        const onOutcome = (outcome: Outcome | undefined) => end(outcome, false);
        flight.join({ passage, onOutcome, onFailure, deadline: { leftMs: leftOf(passage, options), error } });
      };
      const board = (): void => {
        const flight = flights.get(name);
        if (flight !== undefined) join(flight);
        else {
          const onOutcome = (outcome: Outcome | undefined) => end(outcome, true);
          depart(passage, key, stale).join({ passage, onOutcome, onFailure: reject });
        }
      };
      board();
    });

  return (passage) => {
    // Gone while its key or its limits were asked for: nobody would say so again.
    if (passage.res.destroyed) return;
    const key = cacheKeyOf(passage.endpoint.path, passage.query);
    const entry = key === undefined ? undefined : kept.get(key);
    if (entry !== undefined && clock.monotonicMs() < entry.freshUntilMs) return sendKept(passage, entry);
    // A payment's answer must be held whole, however long it is.
    if (key === undefined || passage.beforeSend !== undefined) return askAlone(passage, key);
    return fly(passage, key, entry);
  };
}

/** What is asked for together. What a client knows decides what comes back, unless the kept tag is what is asked for. */
function flightName(passage: RequestContext, key: string, stale: Entry | undefined): string {
  const tags = stale?.answer.etag === undefined ? tagsOf(passage) : undefined;
  return tags === undefined ? key : `${key}\n${tags}`;
}
