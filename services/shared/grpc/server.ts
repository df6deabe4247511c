import { type Metadata, Server, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { ServiceError } from "../errors.ts";
import { TOKEN_HEADER, type TokenCheck } from "../service/service-token.ts";
import { runWithSpan } from "../tracing/active.ts";
import { endGrpcSpan, startGrpcServerSpan } from "../tracing/grpc.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { toGrpcStatus } from "./errors.ts";
import { createHeadsService } from "./heads.ts";
import { createHealthService } from "./health.ts";
import { fromPricesRequestMessage, toPricesMessage, toStatusMessage } from "./messages.ts";
import { joinAddress, listenGrpc } from "./transport.ts";
import {
  type CallOptions,
  type LiveHeads,
  MAX_PRICE_TOKENS,
  type PriceSource,
  type PricesRequest,
  SOLANA_CHAIN_ID,
  type StatusSource,
} from "./types.ts";
import { fullName, loadProtocols, MESSAGE_LIMITS, type PricesRequestMessage } from "./wire.ts";

export interface GrpcServerOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly services: {
    readonly status: StatusSource;
    readonly prices?: PriceSource;
    readonly heads?: LiveHeads;
    /** Whether this process is ready; a rejection counts as false. */
    readonly health: () => Promise<boolean>;
  };
  /** Checks the service token of all calls but health's, whose probes cannot read a Secret; absent = accepts all. */
  readonly isAuthorized?: TokenCheck | undefined;
  /** Called for every call that failed with an internal error. */
  readonly onInternalError?: (error: unknown, method: string) => void;
  /** How often health is polled while it is watched. */
  readonly healthPollMs?: number;
  /** Traces all calls but health's. */
  readonly tracing?: Tracing | undefined;
}

export interface RunningGrpcServer {
  readonly address: string;
  /** Ends streams of health and heads, rejects new calls, lets calls in flight finish for at most `timeoutMs`, then cancels them. */
  stop(options: { timeoutMs: number }): Promise<void>;
}

/**
 * Serves Status, grpc.health.v1 and, where given, Prices and Heads, without TLS: for peers in one private network.
 * Throws naming address and cause when the port cannot be bound.
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<RunningGrpcServer> {
  const { services } = options;
  const protocols = loadProtocols();
  const server = new Server(MESSAGE_LIMITS);
  const names = [fullName(protocols.status.service)];

  server.addService(protocols.status.service, {
    GetStatus: unary("GetStatus", options, async (_request: object, call) =>
      toStatusMessage(await services.status.getStatus(call)),
    ),
  });
  const { prices } = services;
  if (prices !== undefined) {
    names.push(fullName(protocols.prices.service));
    server.addService(protocols.prices.service, {
      GetPrices: unary("GetPrices", options, async (message: PricesRequestMessage, call) => {
        const request = fromPricesRequestMessage(message);
        checkPricesRequest(request);
        return toPricesMessage(await prices.getPrices(request, call));
      }),
    });
  }
  const heads =
    services.heads &&
    createHeadsService(services.heads, (metadata) => checkToken(options.isAuthorized, metadata));
  if (heads !== undefined) {
    names.push(fullName(protocols.heads.service));
    server.addService(protocols.heads.service, heads.methods);
  }
  const health = createHealthService({
    services: names,
    healthy: services.health,
    pollMs: options.healthPollMs ?? 1_000,
  });
  server.addService(protocols.health.service, health.methods);

  const { host } = options;
  const listener = await listenGrpc(server, { host, port: options.port });
  let stopping: Promise<void> | undefined;
  return {
    address: joinAddress({ host, port: listener.port }),
    stop({ timeoutMs }) {
      health.drain();
      heads?.drain();
      listener.close();
      stopping ??= shutDown(server, timeoutMs);
      return stopping;
    },
  };
}

function shutDown(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, timeoutMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}

/** A unary method from an async function; the client's cancellation and deadline abort its signal. */
function unary<Q, A>(
  method: string,
  {
    onInternalError,
    tracing,
    isAuthorized,
  }: Pick<GrpcServerOptions, "onInternalError" | "tracing" | "isAuthorized">,
  handle: (request: Q, options: Required<CallOptions>) => Promise<A>,
) {
  return (call: ServerUnaryCall<Q, A>, callback: sendUnaryData<A>): void => {
    const controller = new AbortController();
    call.on("cancelled", () => controller.abort());
    const span = startGrpcServerSpan(tracing, { path: call.getPath(), metadata: call.metadata });
    const handleAuthorized = async (): Promise<A> => {
      checkToken(isAuthorized, call.metadata);
      return handle(call.request, { signal: controller.signal });
    };
    runWithSpan(span, handleAuthorized).then(
      (message) => {
        endGrpcSpan(span, status.OK, "server");
        callback(null, message);
      },
      (error) => {
        if (!(error instanceof ServiceError)) onInternalError?.(error, method);
        const grpcStatus = toGrpcStatus(error);
        endGrpcSpan(span, grpcStatus.code, "server");
        callback(grpcStatus);
      },
    );
  };
}

function checkToken(isAuthorized: TokenCheck | undefined, metadata: Metadata): void {
  if (isAuthorized === undefined || isAuthorized(metadata.get(TOKEN_HEADER)[0]?.toString())) return;
  throw new ServiceError("unauthorized", "The service token is missing or wrong.");
}

const EVM_ADDRESS = /^0x[a-f0-9]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

function checkPricesRequest({ chainId, tokens }: PricesRequest): void {
  if (tokens.length > MAX_PRICE_TOKENS) {
    throw new ServiceError(
      "bad_request",
      `Cannot price ${tokens.length} tokens: at most ${MAX_PRICE_TOKENS} a call.`,
    );
  }
  const isSolana = chainId === SOLANA_CHAIN_ID;
  const wrong = tokens.find((token) => !(isSolana ? SOLANA_ADDRESS : EVM_ADDRESS).test(token));
  if (wrong === undefined) return;
  if (isSolana && EVM_ADDRESS.test(wrong))
    throw new ServiceError("bad_request", "Cannot price tokens: chain_id was not sent.");
  const kind = isSolana ? "a Solana" : "an EVM";
  throw new ServiceError(
    "bad_request",
    `Cannot price ${JSON.stringify(wrong.slice(0, 64))}: it is not ${kind} address.`,
  );
}
