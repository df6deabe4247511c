import { connect, type Socket } from "node:net";
import { AnswerScanner } from "./answer-scanner.ts";

export interface Target {
  readonly port: number;
  /** Path and query of the n-th request. */
  readonly path: (number: number) => string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LoadOptions {
  readonly target: Target;
  readonly connections: number;
}

export interface Throughput {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Answers that were not 200. */
  readonly refused: number;
}

interface Line {
  readonly socket: Socket;
  readonly scanner: AnswerScanner;
  /** When the requests that are under way were due, oldest first. */
  readonly dueMs: number[];
}

interface Connection {
  readonly socket: Socket;
  /** Receives chunks, in memory that the next read overwrites. */
  readonly reading: { onChunk: (chunk: Buffer) => void };
}

const READ_BYTES = 65_536;

/**
 * One piece of memory for all that a connection receives: a new one each read had this process collect garbage three
 * times a second under load, and its pauses counted as latency of the proxy.
 */
function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const reading: Connection["reading"] = { onChunk: () => {} };
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (length: number): boolean => {
      reading.onChunk(buffer.subarray(0, length));
      return true;
    };
    const to = { port, host: "127.0.0.1", noDelay: true, onread: { buffer, callback } };
    const socket = connect(to, () => resolve({ socket, reading }));
    socket.once("error", reject);
  });
}

/**
 * Sends requests over kept-alive raw sockets. node:http's client and autocannon cost several times what nginx does for
 * the same request, and so measure themselves; this costs about half of it.
 */
export class Load {
  readonly #target: Target;
  readonly #lines: Line[];
  #isClosed = false;
  readonly #tail: string;
  #onEnded: (line: Line, ended: number) => void = () => {};
  #sent = 0;

  private constructor(target: Target, connections: readonly Connection[]) {
    this.#target = target;
    const headers = Object.entries({ Host: `127.0.0.1:${target.port}`, ...target.headers });
    this.#tail = ` HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    this.#lines = connections.map(({ socket, reading }) => {
      const line: Line = { socket, scanner: new AnswerScanner(), dueMs: [] };
      // An answer that never comes would be waited for without end.
      socket.once("close", () => {
        if (!this.#isClosed) throw new Error(`Port ${target.port} closed a connection`);
      });
      reading.onChunk = (chunk) => {
        const ended = line.scanner.read(chunk);
        if (ended > 0) this.#onEnded(line, ended);
      };
      return line;
    });
  }

  static async open({ target, connections }: LoadOptions): Promise<Load> {
    return new Load(
      target,
      await Promise.all(Array.from({ length: connections }, () => openConnection(target.port))),
    );
  }

  /** As fast as answers come, for so many requests or so long: what comes first. */
  async flood(limit: { readonly requests?: number; readonly seconds?: number }): Promise<Throughput> {
    const { requests = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY } = limit;
    const refusedBefore = this.#refused();
    const startedMs = performance.now();
    const endMs = startedMs + seconds * 1000;
    let sent = 0;
    let answered = 0;
    await new Promise<void>((resolve) => {
      const next = (line: Line): void => {
        if (sent >= requests || performance.now() >= endMs) return;
        sent += 1;
        this.#send(line);
      };
      this.#onEnded = (line, ended) => {
        answered += ended;
        next(line);
        if (answered === sent) resolve();
      };
      for (const line of this.#lines) next(line);
    });
    const tookSeconds = (performance.now() - startedMs) / 1000;
    const refused = this.#refused() - refusedBefore;
    return { requests: answered, seconds: tookSeconds, perSecond: answered / tookSeconds, refused };
  }

  /**
   * So many requests a second, whether or not answers come: milliseconds from when each was due to its answer, sorted.
   * Waiting for a free connection counts, as it does for clients.
   */
  async pace({
    perSecond,
    seconds,
  }: {
    readonly perSecond: number;
    readonly seconds: number;
  }): Promise<Float64Array> {
    const total = Math.floor(perSecond * seconds);
    const tookMs = new Float64Array(total);
    const free = [...this.#lines];
    const startedMs = performance.now();
    const dueOf = (number: number) => startedMs + (number * 1000) / perSecond;
    let sent = 0;
    let answered = 0;
    await new Promise<void>((resolve) => {
      const sendDue = (): void => {
        const nowMs = performance.now();
        while (sent < total && dueOf(sent) <= nowMs) {
          const line = free.pop();
          if (line === undefined) return;
          line.dueMs.push(dueOf(sent));
          sent += 1;
          this.#send(line);
        }
      };
      const clock = setInterval(sendDue, 1);
      this.#onEnded = (line) => {
        tookMs[answered] = performance.now() - (line.dueMs.pop() as number);
        answered += 1;
        free.push(line);
        if (answered === total) {
          clearInterval(clock);
          resolve();
        } else sendDue();
      };
    });
    return tookMs.sort();
  }

  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#lines) socket.destroy();
  }

  #send({ socket }: Line): void {
    socket.write(`GET ${this.#target.path(this.#sent)}${this.#tail}`, "latin1");
    this.#sent += 1;
  }

  #refused(): number {
    return this.#lines.reduce((sum, { scanner }) => sum + scanner.refused, 0);
  }
}
