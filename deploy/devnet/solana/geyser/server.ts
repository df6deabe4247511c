import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { type MethodDefinition, status } from "@grpc/grpc-js";
import {
  loadGeyser,
  type SubscribeRequestMessage,
  type SubscribeUpdateMessage,
} from "../../../../services/solana/chain/geyser/wire.ts";
import type { NodeBlock, NodeChain } from "../server/node-chain.ts";
import type { GeyserFaults } from "./faults.ts";
import { findRefusal, listUpdates } from "./filters.ts";
import { GrpcCall } from "./grpc-call.ts";
import { listenHttp2 } from "./grpc-listener.ts";

export interface GeyserServer {
  /** http://127.0.0.1:<port> */
  readonly url: string;
  readonly faults: GeyserFaults;
  /** Requests to subscribe so far, with what they asked for. */
  readonly subscriptions: readonly SubscribeRequestMessage[];
  /** Streams that are open now. */
  readonly open: number;
  /** On the wire: compressed, with all that HTTP/2 adds. */
  readonly sentBytes: number;
  /** Of all updates, before they are compressed. */
  readonly messageBytes: number;
  /** Ends all streams, as a restart of the server does. */
  disconnect(): void;
  close(): Promise<void>;
}

export interface GeyserOptions {
  readonly port?: number;
  /** Required as x-token. */
  readonly token?: string;
  /** A block's messages are ready to be sent. */
  readonly onReady?: (slot: number) => void;
}

const PING_MS = 5_000;

/** A stream, and what it has to send while it may not. */
interface Subscriber {
  readonly call: GrpcCall;
  request: SubscribeRequestMessage;
  readonly held: NodeBlock[];
}

/**
 * Yellowstone's gRPC interface over a chain, as far as it streams blocks and transactions: filters by account, replay of
 * kept slots, token, pings, compression, back-pressure. All blocks count as confirmed when they come.
 */
export async function startGeyserServer(
  chain: NodeChain,
  options: GeyserOptions = {},
): Promise<GeyserServer> {
  const faults: GeyserFaults = {
    isPaused: false,
    alter: (block) => block,
    replaySlots: 1_000,
    refuses: undefined,
    isLate: false,
  };
  const subscribers = new Set<Subscriber>();
  const subscriptions: SubscribeRequestMessage[] = [];
  let messageBytes = 0;
  const method = loadGeyser().service.Subscribe as MethodDefinition<
    SubscribeRequestMessage,
    SubscribeUpdateMessage
  >;

  /** Sends what is held as fast as the client takes it. */
  function pump(subscriber: Subscriber): void {
    const { call, held, request } = subscriber;
    while (held.length > 0 && !faults.isPaused && !call.isFull && subscribers.has(subscriber)) {
      const block = held.shift() as NodeBlock;
      const messages = listUpdates(block, request, faults).map(method.responseSerialize);
      options.onReady?.(block.slot);
      for (const message of messages) {
        messageBytes += message.length;
        call.write(message);
      }
    }
    if (held.length > 0 && call.isFull) call.whenWritable(() => pump(subscriber));
  }

  function send(subscriber: Subscriber, block: NodeBlock): void {
    subscriber.held.push(block);
    // Else what was held before comes first, and this block with it.
    if (subscriber.held.length === 1) pump(subscriber);
  }

  function subscribe(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    let subscriber: Subscriber | undefined;
    const leave = () => {
      clearInterval(pings);
      if (subscriber !== undefined) subscribers.delete(subscriber);
    };
    const end = (code: status, details?: string) => {
      leave();
      call.end(code, details);
    };
    const write = (update: SubscribeUpdateMessage) => call.write(method.responseSerialize(update));
    const pings = setInterval(() => write({ filters: [], ping: {} }), PING_MS);
    const call = new GrpcCall(stream, headers, {
      onMessage: (message) => read(method.requestDeserialize(message)),
      onEnd: () => end(status.OK),
      onClose: leave,
    });

    function read(request: SubscribeRequestMessage): void {
      if (request.ping) {
        write({ filters: [], pong: { id: request.ping.id } });
        return;
      }
      const refusal = findRefusal(request, { chain, ...faults });
      if (refusal !== undefined) {
        end(refusal.code, refusal.details);
        return;
      }
      subscriptions.push(request);
      if (subscriber !== undefined) {
        subscriber.request = request;
        return;
      }
      subscriber = { call, request, held: [] };
      subscribers.add(subscriber);
      replay(subscriber);
    }

    if (headers[":path"] !== method.path) end(status.UNIMPLEMENTED);
    else if (options.token !== undefined && headers["x-token"] !== options.token)
      end(status.UNAUTHENTICATED, "No valid auth token");
  }

  function replay(subscriber: Subscriber): void {
    const { fromSlot } = subscriber.request;
    if (fromSlot === undefined) return;
    for (const slot of chain.produced(fromSlot, chain.head("confirmed")))
      send(subscriber, chain.block(slot) as NodeBlock);
  }

  const stopListening = chain.onSlot(({ slot }) => {
    const block = chain.block(slot);
    if (block !== undefined) for (const subscriber of subscribers) send(subscriber, block);
  });

  const listener = await listenHttp2(options.port ?? 0, subscribe);
  return {
    url: `http://127.0.0.1:${listener.port}`,
    faults: new Proxy(faults, {
      set(target, name, value) {
        Reflect.set(target, name, value);
        if (name === "isPaused" && value === false) for (const each of subscribers) pump(each);
        return true;
      },
    }),
    subscriptions,
    get open() {
      return subscribers.size;
    },
    get sentBytes() {
      return listener.sentBytes;
    },
    get messageBytes() {
      return messageBytes;
    },
    disconnect() {
      for (const { call } of subscribers) call.end(status.UNAVAILABLE, "the server restarts");
      subscribers.clear();
    },
    async close() {
      stopListening();
      listener.close();
    },
  };
}
