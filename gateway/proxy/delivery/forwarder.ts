import { getExchange } from "../../../services/shared/http/exchange.ts";
import type { Clock } from "../../request/clock.ts";
import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import type { ResponseListener, UpstreamResponse } from "../transport/response-receiver.ts";
import { clientTags, type UpstreamClient, wantedMediaType } from "../upstream/client.ts";
import type { Delivery } from "./delivery.ts";
import { EncodableResponse } from "./encodable-response.ts";

export interface ForwarderOptions {
  readonly client: Pick<UpstreamClient, "send">;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** Sends one request to the service for each request of a client. */
export function createForwarder(options: ForwarderOptions): RequestForwarder {
  return async (context) => {
    if (context.res.destroyed) return;
    const response = await fetchForClient(context, options);
    if (response === undefined) return;
    await sendResponse(context, response, { delivery: options.delivery, extraHeaders: [] });
  };
}

/** Sends a service's response to this client. */
export function sendResponse(
  context: RequestContext,
  { status, headers, body }: UpstreamResponse,
  { delivery, extraHeaders }: { readonly delivery: Delivery; readonly extraHeaders: readonly string[] },
): void | Promise<void> {
  if (status === 304) return delivery.sendNotModified(context, headers, extraHeaders);
  if (!Buffer.isBuffer(body)) return delivery.sendStreamed(context, { status, headers, body }, extraHeaders);
  return delivery.sendComplete(context, new EncodableResponse({ headers, body }), extraHeaders);
}

/** Sends a request for one client. Returns undefined when the client disconnects before; the request is then cancelled. */
export function fetchForClient(
  context: RequestContext,
  { client }: Pick<ForwarderOptions, "client">,
): Promise<UpstreamResponse | undefined> {
  const { res } = context;
  const exchange = getExchange(res);
  return new Promise((resolve, reject) => {
    const listener: ResponseListener = {
      onResponse(response) {
        exchange.onClose = undefined;
        resolve(response);
      },
      onError(error) {
        exchange.onClose = undefined;
        if (res.destroyed) resolve(undefined);
        else reject(error);
      },
    };
    const handle = client.send(
      { context, ifNoneMatch: clientTags(context), accept: wantedMediaType(context) },
      listener,
    );
    exchange.onClose = () => handle.cancel();
  });
}
