import type { Request, Response } from "express";
import { ServiceError } from "../../services/shared/errors.ts";
import { sendFailure } from "../../services/shared/host/exchange.ts";
import { isAnswerHeader } from "../upstream/headers.ts";
import { carriesBody } from "./target.ts";

/** Answers a request with what went wrong, whatever a failed attempt to answer it has left behind. */
export function refuse(req: Request, res: Response, error: unknown): void {
  if (!res.headersSent) {
    // Tags and dates of a broken answer say nothing about the error.
    for (const name of res.getHeaderNames()) if (isAnswerHeader(name)) res.removeHeader(name);
    if (error instanceof ServiceError && error.code === "unauthorized") {
      res.setHeader("WWW-Authenticate", 'ApiKey header="X-API-KEY"');
    }
    // A body nobody reads must not be taken for the next request on this connection.
    if (carriesBody(req)) res.setHeader("Connection", "close");
  }
  sendFailure(res, error);
}
