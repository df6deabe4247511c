import { namesTags } from "../../../services/shared/http/conditional.ts";
import { exchangeOf } from "../../../services/shared/http/exchange.ts";
import type { Clock } from "../../request/clock.ts";
import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import type { ReceiveOptions } from "../transport/response-receiver.ts";
import type { Answer } from "../upstream/check-response.ts";
import type { Ask, Asked, Asker } from "../upstream/client.ts";
import type { Delivery } from "./delivery.ts";
import { EncodableResponse } from "./encodable-response.ts";

export interface ForwarderOptions {
  readonly ask: Ask;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** Longer answers go through while they come. */
const HOLD_BYTES = 1_048_576;
/** The longest answer that is held for somebody who must see it whole before it is sent. */
const MAX_HELD_BYTES = 64 * 1_048_576;

/** Asks the service for each request. */
export function createForwarder(options: ForwarderOptions): RequestForwarder {
  return async (passage) => {
    if (passage.res.destroyed) return;
    const answer = await askUntilGone(passage, options);
    if (answer !== undefined) await sendAnswer(passage, answer, { delivery: options.delivery, more: [] });
  };
}

/** Milliseconds left of a request's deadline. */
export function leftOf({ arrivedMs }: RequestContext, { clock, deadlineMs }: ForwarderOptions): number {
  return deadlineMs - (clock.monotonicMs() - arrivedMs);
}

/** Asks the service of a request, with these tags. */
export function askFor(
  passage: RequestContext,
  { ifNoneMatch, asker }: { readonly ifNoneMatch: string | undefined; readonly asker: Asker },
  options: ForwarderOptions,
): Asked {
  const { endpoint, query, session, fields, span, beforeSend } = passage;
  const maxSilenceMs = options.deadlineMs;
  const reading: ReceiveOptions = beforeSend
    ? { holdBytes: MAX_HELD_BYTES, beyond: "refuse", maxSilenceMs }
    : { holdBytes: HOLD_BYTES, beyond: "live", maxSilenceMs };
  const leftMs = leftOf(passage, options);
  return options.ask({ endpoint, query, session, ifNoneMatch, reading, leftMs, fields, span }, asker);
}

/** Sends what a service answered to this request alone. */
export function sendAnswer(
  passage: RequestContext,
  { status, headers, body }: Answer,
  { delivery, more }: { readonly delivery: Delivery; readonly more: readonly string[] },
): void | Promise<void> {
  if (status === 304) return delivery.sendNotModified(passage, headers, more);
  if (!Buffer.isBuffer(body)) return delivery.sendStreamed(passage, { status, headers, body }, more);
  return delivery.sendWhole(passage, new EncodableResponse({ headers, body }), more);
}

/** Asks for this request alone: the answer, or undefined when the client went away before. Then nobody is asked any more. */
export function askUntilGone(
  passage: RequestContext,
  options: ForwarderOptions,
): Promise<Answer | undefined> {
  const { res } = passage;
  const exchange = exchangeOf(res);
  return new Promise((resolve, reject) => {
    const asker: Asker = {
      onAnswer(answer) {
        exchange.onClose = undefined;
        resolve(answer);
      },
      onFailure(error) {
        exchange.onClose = undefined;
        if (res.destroyed) resolve(undefined);
        else reject(error);
      },
    };
    const asked = askFor(passage, { ifNoneMatch: tagsOf(passage), asker }, options);
    exchange.onClose = () => asked.abandon();
  });
}

/** The tags that a client knows the answer by; "*" is none. */
export function tagsOf({ req }: RequestContext): string | undefined {
  const tags = req.headers["if-none-match"];
  return namesTags(tags) ? tags : undefined;
}
