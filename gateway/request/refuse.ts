import type { Response } from "express";
import { ServiceError } from "../../services/shared/errors.ts";
import { sendFailure } from "../../services/shared/http/exchange.ts";
import { ServiceErrorResponse } from "./errors.ts";

/** Headers of a service's error that say something of the request; the others are of our own making. */
const OF_ERRORS = ["x-ignored-parameters"];

/** Answers a request with what went wrong. */
export function sendError(res: Response, error: unknown): void {
  if (!res.headersSent) {
    if (error instanceof ServiceErrorResponse) {
      for (const name of OF_ERRORS) {
        const value = error.headers[name];
        if (value !== undefined) res.setHeader(name, value);
      }
    }
    if (error instanceof ServiceError && error.code === "unauthorized") {
      res.setHeader("WWW-Authenticate", 'ApiKey header="X-API-KEY"');
    }
  }
  sendFailure(res, error);
}
