import { namesTags } from "../../services/shared/host/conditional.ts";
import type { Clock } from "../clock.ts";
import type { Forward, Passage } from "../passage.ts";
import type { Answer } from "../upstream/answer.ts";
import type { Ask, Asked } from "../upstream/proxy.ts";
import type { ReceiveOptions } from "../upstream/transport/answer-receiver.ts";
import type { Delivery, LiveAnswer } from "./deliver.ts";
import { WholeAnswer } from "./whole-answer.ts";

export interface ForwardOptions {
  readonly ask: Ask;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** Longer answers go through while they come. */
export const HOLD_BYTES = 1_048_576;
/** The longest answer that is held for somebody who must see it whole before it is sent. */
const MAX_HELD_BYTES = 64 * 1_048_576;

/** Asks the service for each request. */
export function createForward({ ask, delivery, clock, deadlineMs }: ForwardOptions): Forward {
  return async (passage) => {
    const { req, endpoint, query, session, fields, arrivedMs, beforeAnswer } = passage;
    const wanted = req.headers["if-none-match"];
    const reading: ReceiveOptions = beforeAnswer
      ? { holdBytes: MAX_HELD_BYTES, beyond: "refuse", maxSilenceMs: deadlineMs }
      : { holdBytes: HOLD_BYTES, beyond: "live", maxSilenceMs: deadlineMs };
    const leftMs = deadlineMs - (clock.monotonicMs() - arrivedMs);
    const ifNoneMatch = namesTags(wanted) ? wanted : undefined;
    const asked = ask({ endpoint, query, session, ifNoneMatch, reading, leftMs, fields });
    const answer = await untilGone(passage, asked);
    if (answer === undefined) return;
    if (answer.status === 304) delivery.sendNotModified(passage, answer.headers, []);
    else if (Buffer.isBuffer(answer.body)) {
      await delivery.sendWhole(passage, new WholeAnswer({ headers: answer.headers, body: answer.body }), []);
    } else delivery.sendLive(passage, answer as LiveAnswer, []);
  };
}

/** The answer, or undefined when the client went away before: then nobody is asked any more. */
async function untilGone({ res }: Passage, asked: Asked): Promise<Answer | undefined> {
  const abandon = () => asked.abandon();
  res.once("close", abandon);
  try {
    return await asked.answer;
  } catch (error) {
    if (res.destroyed) return undefined;
    throw error;
  } finally {
    res.off("close", abandon);
  }
}
