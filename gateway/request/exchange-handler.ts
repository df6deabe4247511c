import type { Request, Response } from "express";
import { beginExchange, type Exchange, type ExchangeSinks } from "../../services/shared/http/exchange.ts";
import { admitForm } from "../../services/shared/http/request-line.ts";

/** Answers a request whose exchange has begun. */
export type HandleExchange = (req: Request, res: Response, exchange: Exchange) => void | Promise<void>;

/**
 * What every request passes first, at both hosts: one that follows a bad form on its connection is not answered
 * (request-form.ts), every other one gets its session, its line in the log and its place in the metrics. One middleware,
 * since each costs every request.
 */
export function createExchangeHandler(
  options: ExchangeSinks & { readonly isDraining: () => boolean },
  serve: HandleExchange,
): (req: Request, res: Response) => void | Promise<void> {
  return (req, res) => {
    if (!admitForm(req, res)) return;
    const exchange = beginExchange(options, { req, res });
    if (options.isDraining()) res.shouldKeepAlive = false;
    return serve(req, res, exchange);
  };
}
