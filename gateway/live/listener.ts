import type { Response } from "express";
import { toErrorBody } from "../../services/shared/errors.ts";
import { HEARTBEAT, toEvent, toRetry } from "./event.ts";
import type { Topic, TopicListener } from "./topic.ts";

export interface ListenerOptions {
  readonly res: Response;
  readonly topic: Topic;
  /** The `session` of errors. */
  readonly session: string;
  readonly times: ListenerTimes;
  /** Called when events were left out because the client had not read those before. */
  readonly onSlow: () => void;
}

export interface ListenerTimes {
  /** Without another event. */
  readonly heartbeatMs: number;
  /** For which a client may read nothing of what waits for it. */
  readonly stallMs: number;
  /** Between two counts against the key's limits. */
  readonly chargeMs: number;
}

/** What may wait for one client in this process, beyond one event: shared with the other listeners of the table. */
const MAX_BACKLOG_BYTES = 65_536;
/** Clients of a gateway that stops come back within this time, not all at once. */
const RETURN_MS = { least: 500, most: 3_000 };

/**
 * One client's stream. A client that does not read gets no more events: what it has not read is bounded, and when it
 * has, it gets the table as it is then. One that reads nothing for `stallMs` is cut.
 */
export class Listener implements TopicListener {
  readonly #options: ListenerOptions;
  #isBehind = false;
  #isOver = false;
  #writtenMs: number;
  /** When nothing waited for the client last. */
  #emptyMs: number;
  #chargedMs: number;

  constructor(options: ListenerOptions, nowMs: number) {
    this.#options = options;
    this.#writtenMs = nowMs;
    this.#emptyMs = nowMs;
    this.#chargedMs = nowMs;
    options.res.on("drain", () => this.#catchUp());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The first events. */
  begin(events: readonly Buffer[]): void {
    this.#options.res.write(toRetry(RETURN_MS.least));
    for (const event of events) this.send(event);
  }

  send(event: Buffer): void {
    const { res, onSlow } = this.#options;
    if (this.#isOver || this.#isBehind) return;
    if (res.writableLength > MAX_BACKLOG_BYTES) {
      this.#isBehind = true;
      onSlow();
      return;
    }
    this.#writtenMs = performance.now();
    res.write(event);
  }

  fail(error: unknown): void {
    this.send(this.#errorEvent(error));
  }

  /** Ends the stream with an error: the client's key, or its limits. */
  reject(error: unknown): void {
    this.#end([this.#errorEvent(error)]);
  }

  /** Ends the stream, because this gateway stops. */
  shutDown(): void {
    const { least, most } = RETURN_MS;
    const retry = Math.round(least + Math.random() * (most - least));
    this.#end([Buffer.from(toRetry(retry)), toEvent("end", { reason: "shutdown" })]);
  }

  close(): void {
    this.#isOver = true;
  }

  /** Sends a heartbeat or cuts the connection, where it is time. Returns whether the time until now is to be counted. */
  tick(nowMs: number): boolean {
    const { res, times } = this.#options;
    if (this.#isOver) return false;
    if (res.writableLength === 0) this.#emptyMs = nowMs;
    else if (nowMs - this.#emptyMs >= times.stallMs) {
      this.#isOver = true;
      res.destroy();
      return false;
    }
    if (res.writableLength === 0 && nowMs - this.#writtenMs >= times.heartbeatMs) {
      this.#writtenMs = nowMs;
      res.write(HEARTBEAT);
    }
    if (nowMs - this.#chargedMs < times.chargeMs) return false;
    this.#chargedMs += times.chargeMs;
    return true;
  }

  #catchUp(): void {
    this.#emptyMs = performance.now();
    if (!this.#isBehind || this.#isOver) return;
    this.#isBehind = false;
    this.send(this.#options.topic.snapshot("slow"));
  }

  #end(events: readonly Buffer[]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { res } = this.#options;
    // A client that reads nothing would keep the gateway from ending.
    if (res.writableLength > MAX_BACKLOG_BYTES) res.destroy();
    else res.end(Buffer.concat(events));
  }

  #errorEvent(error: unknown): Buffer {
    return toEvent("error", toErrorBody(error, this.#options.session).body);
  }
}
