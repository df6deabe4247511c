import { Server, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { listenGrpc } from "../../../../services/shared/grpc/transport.ts";
import {
  type BlockFilterMessage,
  type BlockMessage,
  loadGeyser,
  MAX_MESSAGE_BYTES,
  type SubscribeRequestMessage,
  type SubscribeUpdateMessage,
} from "../../../../services/solana/chain/geyser/wire.ts";
import type { NodeBlock, NodeChain } from "../server/node-chain.ts";
import { toBlockMessage } from "./to-message.ts";

/** What goes wrong, changed by tests while the server runs. */
export interface GeyserFaults {
  /** The stream stays open and brings nothing; what was held comes when it is set back. */
  isPaused: boolean;
  /** Changes a block, or withholds it (undefined). */
  alter: (block: BlockMessage) => BlockMessage | undefined;
  /** Slots that the server keeps for replays; 0 = it offers none. */
  replaySlots: number;
}

export interface GeyserServer {
  /** http://127.0.0.1:<port> */
  readonly url: string;
  readonly faults: GeyserFaults;
  /** Requests to subscribe so far, with what they asked for. */
  readonly subscriptions: readonly SubscribeRequestMessage[];
  /** Streams that are open now. */
  readonly open: number;
  /** Size of all updates sent, as they are on the wire. */
  readonly sentBytes: number;
  /** Ends all streams, as a restart of the server does. */
  disconnect(): void;
  close(): Promise<void>;
}

export interface GeyserOptions {
  readonly port?: number;
  /** Required as x-token. */
  readonly token?: string;
}

type Call = ServerDuplexStream<SubscribeRequestMessage, SubscribeUpdateMessage>;

const FILTER_LIMIT = 50;
const PING_MS = 5_000;

/** A stream, and what it has to send while it may not. */
interface Subscriber {
  readonly call: Call;
  request: SubscribeRequestMessage;
  held: NodeBlock[];
}

/**
 * Yellowstone's gRPC interface over a chain, as far as it streams blocks: filters by account, replay of kept slots, token,
 * pings, back-pressure of the transport. All blocks count as confirmed when they come.
 */
export async function startGeyserServer(
  chain: NodeChain,
  options: GeyserOptions = {},
): Promise<GeyserServer> {
  const faults: GeyserFaults = { isPaused: false, alter: (block) => block, replaySlots: 1_000 };
  const subscribers = new Set<Subscriber>();
  const subscriptions: SubscribeRequestMessage[] = [];
  let sentBytes = 0;
  const definition = loadGeyser().service;
  const serialize = definition.Subscribe?.responseSerialize as (value: SubscribeUpdateMessage) => Buffer;

  function send(subscriber: Subscriber, block: NodeBlock): void {
    if (faults.isPaused) return void subscriber.held.push(block);
    for (const [name, filter] of Object.entries(subscriber.request.blocks ?? {})) {
      const message = faults.alter(toBlockMessage(block, createMatcher(filter)));
      if (message === undefined) continue;
      const update = { filters: [name], block: message };
      sentBytes += serialize(update).length;
      subscriber.call.write(update);
    }
  }

  function subscribe(call: Call): void {
    const token = call.metadata.get("x-token")[0];
    if (options.token !== undefined && token !== options.token) {
      fail(call, status.UNAUTHENTICATED, "No valid auth token");
      return;
    }
    let subscriber: Subscriber | undefined;
    const leave = () => {
      clearInterval(pings);
      if (subscriber !== undefined) subscribers.delete(subscriber);
    };
    const pings = setInterval(() => call.write({ filters: [], ping: {} }), PING_MS);
    call.on("data", (request: SubscribeRequestMessage) => {
      if (request.ping) {
        call.write({ filters: [], pong: { id: request.ping.id } });
        return;
      }
      const refusal = findRefusal(request, { chain, replaySlots: faults.replaySlots });
      if (refusal !== undefined) {
        leave();
        fail(call, refusal.code, refusal.details);
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
    });
    call.on("end", () => {
      leave();
      call.end();
    });
    for (const event of ["cancelled", "error", "close"] as const) call.on(event, leave);
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

  const server = new Server({ "grpc.max_send_message_length": MAX_MESSAGE_BYTES });
  server.addService(definition, { Subscribe: subscribe });
  const listener = await listenGrpc(server, { host: "127.0.0.1", port: options.port ?? 0 });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    faults: new Proxy(faults, {
      set(target, name, value) {
        Reflect.set(target, name, value);
        if (name !== "isPaused" || value === true) return true;
        for (const subscriber of subscribers)
          for (const block of subscriber.held.splice(0)) send(subscriber, block);
        return true;
      },
    }),
    subscriptions,
    get open() {
      return subscribers.size;
    },
    get sentBytes() {
      return sentBytes;
    },
    disconnect() {
      for (const { call } of [...subscribers]) fail(call, status.UNAVAILABLE, "the server restarts");
      subscribers.clear();
    },
    async close() {
      stopListening();
      listener.close();
      server.forceShutdown();
    },
  };
}

function fail(call: Call, code: status, details: string): void {
  call.emit("error", { code, details });
}

function findRefusal(
  { blocks = {}, fromSlot }: SubscribeRequestMessage,
  { chain, replaySlots }: { chain: NodeChain; replaySlots: number },
): { code: status; details: string } | undefined {
  for (const { accountInclude } of Object.values(blocks)) {
    if (accountInclude.length > FILTER_LIMIT)
      return {
        code: status.INVALID_ARGUMENT,
        details: `Max amount of account_include reached, only ${FILTER_LIMIT} allowed`,
      };
  }
  if (fromSlot === undefined) return undefined;
  if (replaySlots === 0) return { code: status.INTERNAL, details: "from_slot is not supported" };
  const kept = Math.max(chain.firstAvailable(), chain.head("confirmed") - replaySlots + 1);
  return fromSlot >= kept
    ? undefined
    : {
        code: status.INTERNAL,
        details: `broadcast from ${fromSlot} is not available, last available: ${kept}`,
      };
}

function createMatcher(filter: BlockFilterMessage): (accounts: readonly string[]) => boolean {
  if (!filter.includeTransactions) return () => false;
  if (filter.accountInclude.length === 0) return () => true;
  const wanted = new Set(filter.accountInclude);
  return (accounts) => accounts.some((account) => wanted.has(account));
}
