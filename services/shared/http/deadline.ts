import type { Response } from "express";
import { ServiceError } from "../errors.ts";

/** The client went away: nobody reads the answer, and the access log knows it without an error. */
export class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";
}

/**
 * Runs `work` with a signal that aborts when the deadline passes or the client goes away, and stops waiting then:
 * throws ServiceError request_timeout or ClientDisconnected even where the work does not look at its signal.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { res, deadlineMs }: { readonly res: Response; readonly deadlineMs: number },
): Promise<T> {
  const controller = new AbortController();
  let giveUp: (reason: Error) => void = () => {};
  const given = new Promise<never>((_, reject) => {
    giveUp = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const timer = setTimeout(() => {
    giveUp(new ServiceError("request_timeout", `The service did not answer within ${deadlineMs} ms.`));
  }, deadlineMs);
  const onClose = () => giveUp(new ClientDisconnected("the client closed the connection"));
  res.once("close", onClose);
  try {
    return await Promise.race([work(controller.signal), given]);
  } finally {
    clearTimeout(timer);
    res.off("close", onClose);
  }
}
