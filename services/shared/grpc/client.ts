import {
  Client,
  type ServiceError as GrpcError,
  Metadata,
  type MethodDefinition,
  type ServiceClientConstructor,
  status,
} from "@grpc/grpc-js";
import { ServiceError } from "../errors.ts";
import { bearer, TOKEN_HEADER } from "../service/service-token.ts";
import { endGrpcSpan, startGrpcClientSpan } from "../tracing/grpc.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { fromGrpcError } from "./errors.ts";
import { fromPricesMessage, fromStatusMessage, toPricesRequestMessage } from "./messages.ts";
import { clientCredentials } from "./transport.ts";
import type { CallOptions, PeerState, PriceSource, RpcClient, StatusSource } from "./types.ts";
import {
  fullName,
  type HealthRequestMessage,
  type HealthResponseMessage,
  loadProtocols,
  MESSAGE_LIMITS,
  type PricesRequestMessage,
  type PricesResponseMessage,
  type StatusResponseMessage,
} from "./wire.ts";

export interface ClientOptions {
  /** Time for a whole call, retries on other replicas included. Default 5 s. */
  readonly deadlineMs?: number;
  /** Sent to services that require one. */
  readonly serviceToken?: string | undefined;
  /** Traces calls on behalf of a span. */
  readonly tracing?: Tracing | undefined;
}

const DEFAULT_DEADLINE_MS = 5_000;

/** Connects lazily, and reconnects with back-off of at most 5 s; pings detect a peer that vanished without a packet. */
const CHANNEL_OPTIONS = {
  ...MESSAGE_LIMITS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 5_000,
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // One channel per client: a shared one would survive close().
  "grpc.use_local_subchannel_pool": 1,
};

interface Caller extends RpcClient {
  call<Q, A>(method: string, request: Q, options: CallOptions): Promise<A>;
}

/**
 * Calls one service on its replicas in turn; skips unavailable replicas.
 * Throws ServiceError as fromGrpcError says.
 */
function createCaller(
  service: ServiceClientConstructor,
  addresses: string | readonly string[],
  { deadlineMs = DEFAULT_DEADLINE_MS, serviceToken, tracing }: ClientOptions,
): Caller {
  const targets = typeof addresses === "string" ? [addresses] : addresses;
  const channels = targets.map((target) => new Client(target, clientCredentials(), CHANNEL_OPTIONS));
  let turn = 0;
  return {
    async call<Q, A>(method: string, request: Q, { signal }: CallOptions) {
      const definition = service.service[method] as MethodDefinition<Q, A>;
      const deadline = Date.now() + deadlineMs;
      const first = turn++;
      let failure: GrpcError | undefined;
      for (let tried = 0; tried < channels.length; tried++) {
        signal?.throwIfAborted();
        const place = (first + tried) % channels.length;
        const metadata = new Metadata();
        if (serviceToken !== undefined) metadata.set(TOKEN_HEADER, bearer(serviceToken));
        const { path } = definition;
        const span = startGrpcClientSpan(tracing, { path, target: targets[place] as string, metadata });
        try {
          const call = { definition, request, metadata, deadline, signal };
          const response = await callOnce(channels[place] as Client, call);
          endGrpcSpan(span, status.OK, "client");
          return response;
        } catch (error) {
          failure = error as GrpcError;
          endGrpcSpan(span, failure.code, "client");
          if (failure.code !== status.UNAVAILABLE) break;
        }
      }
      signal?.throwIfAborted();
      throw fromGrpcError(failure as GrpcError, fullName(service.service));
    },
    close() {
      for (const channel of channels) channel.close();
    },
  };
}

function callOnce<Q, A>(
  channel: Client,
  call: {
    definition: MethodDefinition<Q, A>;
    request: Q;
    metadata: Metadata;
    deadline: number;
    signal: AbortSignal | undefined;
  },
): Promise<A> {
  const { definition, request, metadata, deadline, signal } = call;
  return new Promise((resolve, reject) => {
    const running = channel.makeUnaryRequest(
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize,
      request,
      metadata,
      { deadline },
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        if (error === null) resolve(response as A);
        else reject(error);
      },
    );
    const cancel = () => running.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
  });
}

/** A client for evm-dex prices. Errors: see PriceSource; an aborted signal throws its reason. */
export function createPricesClient(
  addresses: string | readonly string[],
  options: ClientOptions = {},
): PriceSource & RpcClient {
  const caller = createCaller(loadProtocols().prices, addresses, options);
  return {
    async getPrices(request, callOptions = {}) {
      const message = toPricesRequestMessage(request);
      return fromPricesMessage(
        await caller.call<PricesRequestMessage, PricesResponseMessage>("GetPrices", message, callOptions),
      );
    },
    close: () => caller.close(),
  };
}

/** A client for the status of a service. Throws ServiceError unavailable; an aborted signal throws its reason. */
export function createStatusClient(
  addresses: string | readonly string[],
  options: ClientOptions = {},
): StatusSource & RpcClient {
  const caller = createCaller(loadProtocols().status, addresses, options);
  return {
    async getStatus(callOptions = {}) {
      return fromStatusMessage(
        await caller.call<object, StatusResponseMessage>("GetStatus", {}, callOptions),
      );
    },
    close: () => caller.close(),
  };
}

export interface HealthClient extends RpcClient {
  /**
   * The state of one replica; never throws. `service` is a full gRPC name, absent for the whole server;
   * unknown = the replica has no such service.
   */
  check(options?: { service?: string }): Promise<PeerState>;
}

/** A client for the health of one replica (grpc.health.v1). */
export function createHealthClient(address: string, options: ClientOptions = {}): HealthClient {
  const caller = createCaller(loadProtocols().health, address, { deadlineMs: 1_000, ...options });
  return {
    async check({ service = "" } = {}) {
      try {
        const response = await caller.call<HealthRequestMessage, HealthResponseMessage>(
          "Check",
          { service },
          {},
        );
        return response.status === "SERVING" ? "serving" : "not_serving";
      } catch (error) {
        const isUnknownService = error instanceof ServiceError && error.code === "not_found";
        return isUnknownService ? "unknown" : "unreachable";
      }
    },
    close: () => caller.close(),
  };
}
