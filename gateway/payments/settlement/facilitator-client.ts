import type { FacilitatorClient } from "@x402/core/server";
import type {
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from "@x402/core/types";
import { z } from "zod";
import { activeSpan } from "../../../services/shared/tracing/active.ts";
import { startClientSpan } from "../../../services/shared/tracing/http.ts";
import { errorTypeOf, type Tracing } from "../../../services/shared/tracing/tracing.ts";

/** The facilitator returned no reliable response. */
export class FacilitatorError extends Error {
  override readonly name = "FacilitatorError";
  /** False if the request certainly did not reach it. */
  readonly mayHaveArrived: boolean;
  constructor(message: string, options: { mayHaveArrived: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.mayHaveArrived = options.mayHaveArrived;
  }
}

interface FacilitatorClientOptions {
  /** Base URL of /verify, /settle and /supported. */
  readonly url: string;
  /** Sent as bearer token. */
  readonly token?: string | undefined;
  readonly verifyTimeoutMs: number;
  /** A settlement waits until its transaction is in a block. */
  readonly settleTimeoutMs: number;
  /** Traces requests that are part of a span. */
  readonly tracing?: Tracing | undefined;
}

const text = z.string().nullish();
const verifyResponse = z.object({ isValid: z.boolean(), invalidReason: text, payer: text });
const settleResponse = z.object({
  success: z.boolean(),
  errorReason: text,
  payer: text,
  transaction: z.string().nullish(),
});
const supportedResponse = z.object({
  kinds: z.array(z.object({ x402Version: z.number(), scheme: z.string(), network: z.string() })),
  signers: z.record(z.string(), z.array(z.string())).nullish().catch(undefined),
});

const MAX_RESPONSE_BYTES = 64 * 1024;
/** Node's error codes for a connection that was never made. */
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

/**
 * A facilitator over HTTP. The client of @x402/core lacks three things: it prints to standard output, has one time limit
 * for all requests, and does not report whether a request may have arrived.
 */
export function createFacilitatorClient(options: FacilitatorClientOptions): FacilitatorClient {
  const base = options.url.replace(/\/+$/, "");
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  // Deno repeats a request whose kept connection ends, and reports only the second attempt: "refused", for a settlement
  // that has arrived.
  if ("Deno" in globalThis) headers.connection = "close";
  if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`;

  const send = async <T>(path: string, schema: z.ZodType<T>, request: HttpOptions) => {
    const { timeoutMs, ...init } = request;
    const call = beginCall(path, request.method);
    let status: number;
    let body: string;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const sent = call === undefined ? headers : { ...headers, ...call.headers };
      const response = await fetch(`${base}${path}`, { ...init, headers: sent, signal, redirect: "error" });
      status = response.status;
      body = await readText(response);
      call?.end({ status });
    } catch (cause) {
      call?.end({ errorType: errorTypeOf(cause) });
      throw new FacilitatorError(`${path} got no response`, { mayHaveArrived: !isNotReached(cause), cause });
    }
    // Some facilitators report an invalid payment with status 200, others with 400 or 402.
    const read = schema.safeParse(parseJson(body));
    if (read.success && status < 500) return read.data;
    throw new FacilitatorError(`${path} answered ${status}: ${body.slice(0, 200)}`, { mayHaveArrived: true });
  };
  const beginCall = (path: string, method: string) => {
    const parent = options.tracing && activeSpan();
    if (options.tracing === undefined || parent === undefined) return undefined;
    // The path of its URL may contain a credential.
    return startClientSpan(options.tracing, { parent, method, origin: new URL(base).origin, path });
  };
  const post = <T>(path: string, schema: z.ZodType<T>, options: PaymentPost) => {
    const { payload, requirements, timeoutMs } = options;
    const body = JSON.stringify({
      x402Version: payload.x402Version,
      paymentPayload: payload,
      paymentRequirements: requirements,
    });
    return send(path, schema, { method: "POST", body, timeoutMs });
  };

  return {
    async verify(payload, requirements): Promise<VerifyResponse> {
      const timeoutMs = options.verifyTimeoutMs;
      const response = await post("/verify", verifyResponse, { payload, requirements, timeoutMs });
      return { isValid: response.isValid, ...present({ invalidReason: response.invalidReason }) };
    },
    async settle(payload, requirements): Promise<SettleResponse> {
      const timeoutMs = options.settleTimeoutMs;
      const response = await post("/settle", settleResponse, { payload, requirements, timeoutMs });
      return {
        success: response.success,
        transaction: response.transaction ?? "",
        network: requirements.network,
        ...present({ errorReason: response.errorReason, payer: response.payer }),
      };
    },
    async getSupported(): Promise<SupportedResponse> {
      const { kinds, signers } = await send("/supported", supportedResponse, {
        method: "GET",
        timeoutMs: options.verifyTimeoutMs,
      });
      return { kinds: kinds as SupportedResponse["kinds"], extensions: [], signers: signers ?? {} };
    },
  };
}

interface HttpOptions {
  readonly method: "GET" | "POST";
  readonly body?: string;
  readonly timeoutMs: number;
}

interface PaymentPost {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
  readonly timeoutMs: number;
}

/** Reads a body of bounded size. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** fetch wraps the cause in a TypeError; a name with several addresses wraps it again. Deno has only a message. */
function isNotReached(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if (at.message.includes("client error (Connect)")) return true;
    if ("code" in at && typeof at.code === "string" && NOT_REACHED.has(at.code)) return true;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return false;
}

function present<T extends Record<string, string | null | undefined>>(fields: T) {
  const entries = Object.entries(fields).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(entries) as { [K in keyof T]?: string };
}
