import type { Response } from "express";
import { ServiceError } from "../errors.ts";

/** The client disconnected: no response is sent, and the access log has a line without an error. */
export class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";
}

/**
 * Runs `work` with a signal that aborts when the deadline passes or the client disconnects. Throws ServiceError
 * request_timeout or ClientDisconnected then, even if the work ignores its signal.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { res, deadlineMs }: { readonly res: Response; readonly deadlineMs: number },
): Promise<T> {
  const controller = new AbortController();
  let cancel: (reason: Error) => void = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    cancel = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const timer = setTimeout(() => {
    cancel(new ServiceError("request_timeout", `The service did not answer within ${deadlineMs} ms.`));
  }, deadlineMs);
  const onClose = () => cancel(new ClientDisconnected("the client closed the connection"));
  res.once("close", onClose);
  try {
    return await Promise.race([work(controller.signal), cancelled]);
  } finally {
    clearTimeout(timer);
    res.off("close", onClose);
  }
}
