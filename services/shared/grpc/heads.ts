import { Client, Metadata, type MethodDefinition, type ServerWritableStream } from "@grpc/grpc-js";
import { bearer, TOKEN_HEADER } from "../service/service-token.ts";
import { toGrpcStatus } from "./errors.ts";
import { clientCredentials } from "./transport.ts";
import type { LiveHead, LiveHeads, RpcClient } from "./types.ts";
import { type HeadMessage, loadProtocols, MESSAGE_LIMITS } from "./wire.ts";

type WatchCall = ServerWritableStream<object, HeadMessage>;

export interface HeadsService {
  readonly methods: { Watch(call: WatchCall): void };
  /** Ends all streams, so that they do not delay a shutdown. */
  drain(): void;
}

/** Serves heads as streams. `authorize` throws for a call without the service token. */
export function createHeadsService(heads: LiveHeads, authorize: (metadata: Metadata) => void): HeadsService {
  const calls = new Map<WatchCall, () => void>();
  let isDraining = false;
  const end = (call: WatchCall): void => {
    calls.get(call)?.();
    calls.delete(call);
    call.end();
  };
  return {
    methods: {
      Watch(call) {
        try {
          authorize(call.metadata);
        } catch (error) {
          call.emit("error", toGrpcStatus(error));
          return;
        }
        if (isDraining) return void call.end();
        call.on("cancelled", () => end(call));
        calls.set(call, heads.watch(createLatestWriter(call)));
      },
    },
    drain() {
      isDraining = true;
      for (const call of [...calls.keys()]) end(call);
    },
  };
}

/** Writes heads; while the reader is slow, only the latest of each chain is kept for it. */
function createLatestWriter(call: WatchCall): (head: LiveHead) => void {
  const waiting = new Map<number, LiveHead>();
  let isFull = false;
  const write = (head: LiveHead): void => {
    if (call.write({ ...head, recent: [...head.recent] })) return;
    isFull = true;
    call.once("drain", () => {
      isFull = false;
      const late = [...waiting.values()];
      waiting.clear();
      for (const each of late) tell(each);
    });
  };
  const tell = (head: LiveHead): void => {
    if (isFull) waiting.set(head.chainId, head);
    else write(head);
  };
  return tell;
}

export interface HeadsListener {
  onHead(head: LiveHead): void;
  /** The stream is over, with an error or without; there is no second call. */
  onEnd(error: Error | undefined): void;
}

export interface HeadsClient extends RpcClient {
  /** Reads the heads of this replica until the returned function is called, which calls nothing back. */
  watch(listener: HeadsListener): () => void;
}

/** Pings find a replica that vanished without a packet: nothing else would, where no block comes. */
const CHANNEL_OPTIONS = {
  ...MESSAGE_LIMITS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 3_000,
  "grpc.use_local_subchannel_pool": 1,
};

/** A client for the heads of one replica. */
export function createHeadsClient(
  address: string,
  { serviceToken }: { readonly serviceToken?: string | undefined } = {},
): HeadsClient {
  const { service } = loadProtocols().heads;
  const definition = service.Watch as MethodDefinition<object, HeadMessage>;
  const channel = new Client(address, clientCredentials(), CHANNEL_OPTIONS);
  return {
    watch({ onHead, onEnd }) {
      const metadata = new Metadata();
      if (serviceToken !== undefined) metadata.set(TOKEN_HEADER, bearer(serviceToken));
      const { path, requestSerialize, responseDeserialize } = definition;
      const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}, metadata);
      let isOver = false;
      const end = (error: Error | undefined): void => {
        if (isOver) return;
        isOver = true;
        onEnd(error);
      };
      call.on("data", (head: HeadMessage) => {
        if (!isOver) onHead(head);
      });
      call.on("error", end);
      call.on("end", () => end(undefined));
      return () => {
        isOver = true;
        call.cancel();
      };
    },
    close: () => channel.close(),
  };
}
