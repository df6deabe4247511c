import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { until } from "./fixture.ts";

export interface SentEvent {
  readonly name: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they read.
  readonly data: any;
}

/** Reads a stream of events as the standard says (HTML Living Standard, 9.2.6), as far as it is used here. */
export class EventReader {
  readonly events: SentEvent[] = [];
  /** Comments: heartbeats. */
  comments = 0;
  retryMs: number | undefined;
  response: IncomingMessage | undefined;
  isOver = false;
  /** Called with each event as it comes. */
  onEvent: (event: SentEvent) => void = () => {};
  readonly #request: ClientRequest;
  #text = "";

  constructor(url: string, headers: Record<string, string>) {
    const all = { Accept: "text/event-stream", ...headers };
    this.#request = request(url, { headers: all }, (response) => {
      this.response = response;
      response.setEncoding("utf8");
      response.on("data", (text: string) => this.#read(text));
      response.on("error", () => {});
      response.on("close", () => {
        this.isOver = true;
      });
    });
    this.#request.on("error", () => {
      this.isOver = true;
    });
    this.#request.end();
  }

  /** The response's body where it is no stream. */
  get text(): string {
    return this.#text;
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  named(name: string): SentEvent[] {
    return this.events.filter((event) => event.name === name);
  }

  /** Resolves with the events, once there are so many. */
  async count(count: number): Promise<SentEvent[]> {
    await until(() => this.events.length >= count || this.isOver);
    if (this.events.length < count) throw new Error(`The stream ended after ${this.events.length} events`);
    return this.events;
  }

  pause(): void {
    this.response?.pause();
  }

  resume(): void {
    this.response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    if (!this.response?.headers["content-type"]?.startsWith("text/event-stream")) return;
    for (let end = this.#text.indexOf("\n\n"); end !== -1; end = this.#text.indexOf("\n\n")) {
      this.#take(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
    }
  }

  #take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon === 0 || line === "") this.comments += 1;
      else fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
    const retry = fields.get("retry");
    if (retry !== undefined) this.retryMs = Number(retry);
    const data = fields.get("data");
    if (data === undefined) return;
    const event = {
      name: fields.get("event") ?? "message",
      id: copyOf(fields.get("id")),
      data: JSON.parse(data),
    };
    this.events.push(event);
    this.onEvent(event);
  }
}

/** A part of a text keeps all of it in memory: 500 readers of 20 kB an event filled 4 GB. */
function copyOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text).toString();
}
