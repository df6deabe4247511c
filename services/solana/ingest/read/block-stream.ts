import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import {
  type Form,
  type GeyserEndpoint,
  openSubscription,
  type Subscription,
  type SubscriptionOptions,
} from "../../chain/geyser/subscription.ts";
import { toBlock } from "../../chain/geyser/to-block.ts";
import type { DecodedBlock } from "./decoded-block.ts";

/** Blocks not read yet before the server waits (of a replay) or the oldest go: a block is about a megabyte decoded. */
const MAX_UNREAD = 120;
/** Blocks kept after they were read: ranges are read again after a fork. */
const KEPT_READ = 16;

export interface StreamState {
  /** Slot of the last block; undefined before the first one, and while the stream is down or set aside. */
  readonly head: number | undefined;
}

export interface BlockStreamOptions
  extends Pick<SubscriptionOptions, "accounts" | "backoffMs" | "maxBackoffMs" | "silenceMs"> {
  readonly endpoint: GeyserEndpoint;
  readonly log: SourceLog;
  readonly decode: (block: ReturnType<typeof toBlock>) => DecodedBlock;
  /** Called at every change. */
  readonly onState: (state: StreamState) => void;
  /** How long a range waits for a stream that brings nothing; default 1,500. */
  readonly patienceMs?: number;
  /** How long the stream is not used after it was wrong; default 300,000. */
  readonly asideMs?: number;
}

/**
 * Confirmed blocks as a server pushes them, each the child of the one before it: where one is not, those before a gap, or
 * those of a dropped fork, are forgotten, and JSON-RPC serves their slots.
 */
export class BlockStream {
  readonly #options: BlockStreamOptions;
  readonly #known: { form: Form } = { form: "transactions" };
  #subscription: Subscription | undefined;
  /** Ascending by slot, each the parent of the next. */
  #blocks: DecodedBlock[] = [];
  /** Slots from this one on are in `#blocks`, as far as they have come. */
  #from: number | undefined;
  #isReplay = false;
  #isUp = false;
  #wantedFrom = 0;
  #readTo = 0;
  #isFollowing = false;
  /** Since when nothing comes: performance.now(). */
  #downSinceMs = 0;
  #asideUntilMs = 0;
  /** Blocks from this slot on that were taken lacked a transaction. */
  #late: number | undefined;
  #changes = new Set<() => void>();

  constructor(options: BlockStreamOptions) {
    this.#options = options;
  }

  /** Opens the stream from a slot on, or ends it. */
  follow(fromSlot: number | undefined): void {
    this.#isFollowing = fromSlot !== undefined;
    if (fromSlot === undefined) return void this.#disconnect();
    this.#readTo = Math.min(this.#readTo, fromSlot - 1);
    this.#open(fromSlot);
  }

  #open(fromSlot: number): void {
    if (performance.now() < this.#asideUntilMs) return;
    this.#wantedFrom = fromSlot;
    if (this.#subscription !== undefined) return;
    this.#downSinceMs = performance.now();
    this.#subscription = openSubscription({
      ...this.#options,
      known: this.#known,
      nextSlot: () => Math.max(this.#wantedFrom, (this.#head ?? 0) + 1),
      onConnect: (isReplay) => {
        this.#isReplay = isReplay;
      },
      onBlock: (message) => {
        this.#add(this.#options.decode(toBlock(message)));
        this.#isUp = true;
        this.#told();
      },
      onLate: (slot) => {
        this.#late = Math.min(slot, this.#late ?? slot);
        this.#blocks = this.#blocks.filter((each) => each.slot < slot);
        this.#told();
      },
      onDisconnect: () => {
        if (this.#isUp) this.#downSinceMs = performance.now();
        this.#isUp = false;
        this.#told();
      },
    });
  }

  /** The blocks of a range, or undefined where the stream does not have them all, and will not within its patience. */
  async take(range: { fromSlot: number; toSlot: number }): Promise<DecodedBlock[] | undefined> {
    const { patienceMs = 1_500 } = this.#options;
    if (this.#isFollowing && this.#subscription === undefined) this.#open(range.fromSlot);
    for (;;) {
      // The reader tells it with the next range.
      if (this.#late !== undefined) return undefined;
      if (!this.#canHave(range.fromSlot)) return undefined;
      const found = this.#find(range);
      if (found !== undefined) return found;
      const downMs = this.#isUp ? 0 : performance.now() - this.#downSinceMs;
      if (downMs >= patienceMs || !(await this.#nextChange(patienceMs - downMs))) return undefined;
    }
  }

  /** The first slot whose block turned out not to be whole, told once. */
  takeLate(): number | undefined {
    const late = this.#late;
    this.#late = undefined;
    return late;
  }

  /** It told something that is not so: not used for a while. */
  setAside(): void {
    this.#asideUntilMs = performance.now() + (this.#options.asideMs ?? 300_000);
    void this.#disconnect();
  }

  close(): Promise<void> {
    this.#isFollowing = false;
    return this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    this.#isUp = false;
    this.#blocks = [];
    this.#from = undefined;
    this.#told();
    await subscription?.close();
  }

  get #head(): number | undefined {
    return this.#blocks.at(-1)?.slot;
  }

  #add(block: DecodedBlock): void {
    const { slot, parentSlot, previousBlockhash } = block;
    const at = this.#blocks.findLastIndex((each) => each.slot === parentSlot);
    const parent = this.#blocks[at];
    if (parent === undefined || parent.blockhash !== previousBlockhash) {
      // A gap, or a fork from before what is kept. A replay may begin after skipped slots.
      this.#blocks = [];
      this.#from = parentSlot + 1;
    } else this.#blocks.length = at + 1;
    this.#blocks.push(block);
    this.#readTo = Math.min(this.#readTo, slot - 1);
    this.#trim();
  }

  #trim(): void {
    let read = this.#blocks.findLastIndex(({ slot }) => slot <= this.#readTo) + 1;
    const unread = this.#blocks.length - read;
    let drop = Math.max(0, read - KEPT_READ);
    if (unread > MAX_UNREAD) {
      if (this.#isReplay) this.#subscription?.pause();
      else drop = Math.max(drop, this.#blocks.length - MAX_UNREAD);
    } else if (unread < MAX_UNREAD / 2) this.#subscription?.resume();
    const last = this.#blocks[drop - 1];
    if (last === undefined) return;
    read -= drop;
    this.#blocks.splice(0, drop);
    this.#from = last.slot + 1;
  }

  /** Whether the stream has, or will have, what follows from this slot on. */
  #canHave(fromSlot: number): boolean {
    if (this.#subscription === undefined) return false;
    if (this.#from !== undefined) return fromSlot >= this.#from;
    return this.#isReplay && fromSlot >= this.#wantedFrom;
  }

  #find({ fromSlot, toSlot }: { fromSlot: number; toSlot: number }): DecodedBlock[] | undefined {
    const head = this.#head;
    if (head === undefined || head < toSlot) return undefined;
    this.#readTo = Math.max(this.#readTo, toSlot);
    const found = this.#blocks.filter(({ slot }) => slot >= fromSlot && slot <= toSlot);
    this.#trim();
    return found;
  }

  /** True = something came. */
  #nextChange(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (came: boolean) => {
        clearTimeout(timer);
        this.#changes.delete(wake);
        resolve(came);
      };
      const wake = () => done(true);
      const timer = setTimeout(() => done(false), timeoutMs);
      this.#changes.add(wake);
    });
  }

  #told(): void {
    this.#options.onState({ head: this.#isUp ? this.#head : undefined });
    for (const wake of [...this.#changes]) wake();
  }
}
