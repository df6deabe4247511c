import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientDuplexStream, credentials, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { clientCredentials } from "../../../shared/grpc/transport.ts";
import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import {
  type BlockMessage,
  loadGeyser,
  MAX_MESSAGE_BYTES,
  type SubscribeRequestMessage,
  type SubscribeUpdateMessage,
} from "./wire.ts";

export interface GeyserEndpoint {
  /** https:// or http://; the port is 443 or 80 unless it is named. */
  readonly url: string;
  /** Sent as x-token. */
  readonly token?: string | undefined;
}

export interface SubscriptionOptions {
  readonly endpoint: GeyserEndpoint;
  /** Accounts whose transactions are wanted (base58). */
  readonly accounts: readonly string[];
  /** The slot that the next connection is to begin with. */
  readonly nextSlot: () => number;
  /** A connection begins; `isReplay` = with nextSlot's slot, else with whatever comes next. */
  readonly onConnect: (isReplay: boolean) => void;
  /** Throws for a block that cannot be used: the connection is made again. */
  readonly onBlock: (message: BlockMessage) => void;
  readonly onDisconnect: () => void;
  readonly log: SourceLog;
  /** Pause before a connection is made again, doubled up to `maxBackoffMs`; defaults 250 and 10,000. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Without a block for so long a connection is made anew; default 15,000. */
  readonly silenceMs?: number;
}

export interface Subscription {
  /** The server waits until `resume`; silence is not counted meanwhile. */
  pause(): void;
  resume(): void;
  /** Ends the connection; the next one is made at once. */
  restart(): void;
  close(): Promise<void>;
}

type Call = ClientDuplexStream<SubscribeRequestMessage, SubscribeUpdateMessage>;

const FILTER = "blocks";
/** What servers say of a from_slot that they do not have, or do not offer at all. */
const NO_REPLAY = /from_slot|not available|not supported|lagged|too old|replay/i;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.use_local_subchannel_pool": 1,
};

/** Host and port of a gRPC channel. Throws TypeError for what is no URL, without quoting it. */
export function toTarget(url: string): { target: string; isSecure: boolean } {
  if (!URL.canParse(url)) throw new TypeError("The gRPC URL cannot be read");
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  return { target: `${hostname}:${port || (isSecure ? 443 : 80)}`, isSecure };
}

/**
 * A subscription to confirmed blocks that is made again whenever it ends, each time from the next slot that is needed: a
 * server that has kept the slots since sends them first. One that has not is asked for new blocks only.
 */
export function openSubscription(options: SubscriptionOptions): Subscription {
  const { endpoint, log, backoffMs = 250, maxBackoffMs = 10_000, silenceMs = 15_000 } = options;
  const { target, isSecure } = toTarget(endpoint.url);
  const closing = new AbortController();
  const { signal } = closing;
  const channel = new Client(
    target,
    isSecure ? credentials.createSsl() : clientCredentials(),
    CHANNEL_OPTIONS,
  );
  const method = loadGeyser().service.Subscribe as MethodDefinition<
    SubscribeRequestMessage,
    SubscribeUpdateMessage
  >;
  let call: Call | undefined;
  let isPaused = false;

  function start(fromSlot: number | undefined): Call {
    const metadata = new Metadata();
    if (endpoint.token !== undefined) metadata.set("x-token", endpoint.token);
    const started: Call = channel.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
    );
    started.write({
      blocks: {
        [FILTER]: {
          accountInclude: options.accounts,
          includeTransactions: true,
          includeAccounts: false,
          includeEntries: false,
        },
      },
      commitment: "CONFIRMED",
      ...(fromSlot !== undefined && { fromSlot }),
    });
    if (isPaused) started.pause();
    return started;
  }

  /** One connection until it ends; returns how many blocks it brought, and why it ended. */
  function connect(fromSlot: number | undefined): Promise<{ blocks: number; reason: string }> {
    options.onConnect(fromSlot !== undefined);
    return new Promise((resolve) => {
      const opened = start(fromSlot);
      call = opened;
      let blocks = 0;
      let heardMs = performance.now();
      const end = (reason: string): void => {
        clearInterval(watch);
        if (call === opened) call = undefined;
        opened.cancel();
        resolve({ blocks, reason });
      };
      const watch = setInterval(() => {
        if (isPaused) heardMs = performance.now();
        else if (performance.now() - heardMs > silenceMs) end(`no block for ${silenceMs} ms`);
      }, silenceMs / 4);
      const accept = (block: BlockMessage): void => {
        try {
          options.onBlock(block);
          heardMs = performance.now();
          blocks += 1;
        } catch (error) {
          end(error instanceof Error ? error.message : String(error));
        }
      };
      opened.on("data", ({ ping, block }: SubscribeUpdateMessage) => {
        if (call !== opened) return;
        if (ping) opened.write({ ping: { id: 1 } });
        if (block) accept(block);
      });
      opened.on("error", (error) => end(error.message));
      opened.on("end", () => end("the server ended it"));
    });
  }

  async function run(): Promise<void> {
    let failures = 0;
    let canReplay = true;
    let said: string | undefined;
    while (!signal.aborted) {
      const isReplay: boolean = canReplay;
      const { blocks, reason } = await connect(isReplay ? options.nextSlot() : undefined);
      if (signal.aborted) return;
      options.onDisconnect();
      failures = blocks > 0 ? 0 : failures + 1;
      // Asked again at the next connection that has brought something.
      canReplay = blocks > 0 || !(isReplay && NO_REPLAY.test(reason));
      if (blocks > 0 || reason !== said)
        log("the stream of blocks ended: it is opened again", { host: target, reason });
      said = reason;
      const pauseMs = Math.min(backoffMs * 2 ** Math.min(Math.max(0, failures - 1), 20), maxBackoffMs);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    pause() {
      isPaused = true;
      call?.pause();
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      call?.resume();
    },
    restart: () => void call?.cancel(),
    async close() {
      closing.abort();
      call?.cancel();
      await running;
      channel.close();
    },
  };
}
