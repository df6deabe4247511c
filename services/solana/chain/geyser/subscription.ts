import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { clientCredentials } from "../../../shared/grpc/transport.ts";
import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import { BlockAssembler, LateTransactionError } from "./block-assembler.ts";
import {
  type BlockFilterMessage,
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
  /** The block of this slot, which onBlock has had, lacked a transaction; the connection ends. */
  readonly onLate: (slot: number) => void;
  readonly onDisconnect: () => void;
  /** What this server serves, as far as earlier subscriptions know; changed where it turns out to be otherwise. */
  readonly known: { form: Form };
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

/**
 * What is asked for: transactions that succeeded, one by one, and blocks without any as their ends; or, of a server that
 * refuses that, or whose transactions come too late, blocks with all their transactions, failed ones and votes among them.
 */
export type Form = "transactions" | "blocks";

const OTHER: Readonly<Record<Form, Form>> = { transactions: "blocks", blocks: "transactions" };

/** What servers say of filters that they do not have, or do not allow. */
const REFUSALS = new Set([status.INVALID_ARGUMENT, status.PERMISSION_DENIED, status.UNIMPLEMENTED]);
/** What servers say of a from_slot that they do not have, or do not offer at all. */
const NO_REPLAY = /from_slot|not available|not supported|lagged|too old|replay/i;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.use_local_subchannel_pool": 1,
};

interface Connection {
  readonly blocks: number;
  readonly reason: string;
  /** The server does not serve what was asked for. */
  readonly isRefused: boolean;
}

function toFilters(form: Form, accountInclude: readonly string[]) {
  const blocks = (includeTransactions: boolean): Record<string, BlockFilterMessage> => ({
    blocks: { accountInclude, includeTransactions, includeAccounts: false, includeEntries: false },
  });
  return form === "blocks"
    ? { blocks: blocks(true) }
    : {
        transactions: { transactions: { vote: false, failed: false, accountInclude } },
        blocks: blocks(false),
      };
}

function accept(
  { transaction, block }: SubscribeUpdateMessage,
  to: { assembler: BlockAssembler | undefined; onBlock: (block: BlockMessage) => void },
): void {
  const { assembler, onBlock } = to;
  if (transaction) assembler?.addTransaction(transaction);
  const whole = block && assembler !== undefined ? assembler.addBlock(block) : block;
  if (whole) onBlock(whole);
}

/** Host and port of a gRPC channel. Throws TypeError for what is no URL, without quoting it. */
export function toTarget(url: string): { target: string; isSecure: boolean } {
  if (!URL.canParse(url)) throw new TypeError("The gRPC URL cannot be read");
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  return { target: `${hostname}:${port || (isSecure ? 443 : 80)}`, isSecure };
}

/**
 * A subscription to confirmed blocks with the wanted transactions that succeeded. It is made again whenever it ends, each
 * time from the next slot that is needed: a server that has kept the slots since sends them first. One that has not is
 * asked for new blocks only.
 */
export function openSubscription(options: SubscriptionOptions): Subscription {
  const { endpoint, known, log, backoffMs = 250, maxBackoffMs = 10_000, silenceMs = 15_000 } = options;
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
      ...toFilters(known.form, options.accounts),
      commitment: "CONFIRMED",
      ...(fromSlot !== undefined && { fromSlot }),
    });
    if (isPaused) started.pause();
    return started;
  }

  /** One connection until it ends; returns how many blocks it brought, and why it ended. */
  function connect(fromSlot: number | undefined): Promise<Connection> {
    options.onConnect(fromSlot !== undefined);
    const assembler =
      known.form === "transactions" ? new BlockAssembler({ isReplay: fromSlot !== undefined }) : undefined;
    return new Promise((resolve) => {
      const opened = start(fromSlot);
      call = opened;
      let blocks = 0;
      let hasTransactions = false;
      let heardMs = performance.now();
      const end = (reason: string, isRefused = false): void => {
        clearInterval(watch);
        if (call === opened) call = undefined;
        opened.cancel();
        resolve({ blocks, reason, isRefused: isRefused && blocks === 0 });
      };
      const watch = setInterval(() => {
        if (isPaused) heardMs = performance.now();
        // Transactions without an end: the server does not send what they are ended by.
        else if (performance.now() - heardMs > silenceMs)
          end(`no block for ${silenceMs} ms`, hasTransactions);
      }, silenceMs / 4);
      opened.on("data", (update: SubscribeUpdateMessage) => {
        if (call !== opened) return;
        if (update.ping) opened.write({ ping: { id: 1 } });
        try {
          accept(update, { assembler, onBlock: options.onBlock });
          if (update.transaction) hasTransactions = true;
          if (!update.block) return;
          heardMs = performance.now();
          blocks += 1;
        } catch (error) {
          end(whatWasWrong(error));
        }
      });
      opened.on("error", (error: ServiceError) => end(error.message, REFUSALS.has(error.code)));
      opened.on("end", () => end("the server ended it"));
    });
  }

  function whatWasWrong(error: unknown): string {
    if (error instanceof LateTransactionError) {
      known.form = "blocks";
      options.onLate(error.slot);
    }
    return error instanceof Error ? error.message : String(error);
  }

  const pauseMs = (failures: number) =>
    Math.min(backoffMs * 2 ** Math.min(Math.max(0, failures - 1), 20), maxBackoffMs);

  async function run(): Promise<void> {
    let failures = 0;
    let canReplay = true;
    let said: string | undefined;
    while (!signal.aborted) {
      const isReplay: boolean = canReplay;
      const { blocks, reason, isRefused } = await connect(isReplay ? options.nextSlot() : undefined);
      if (signal.aborted) return;
      options.onDisconnect();
      failures = blocks > 0 ? 0 : failures + 1;
      if (isRefused) known.form = OTHER[known.form];
      // Asked again at the next connection that has brought something.
      canReplay = blocks > 0 || !(isReplay && NO_REPLAY.test(reason));
      if (blocks > 0 || reason !== said)
        log("the stream of blocks ended: it is opened again", { host: target, reason });
      said = reason;
      await sleep(pauseMs(failures), undefined, { signal }).catch(() => {});
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
