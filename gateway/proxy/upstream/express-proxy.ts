import { parse } from "node:url";
import proxy from "express-http-proxy";
import type { Pool } from "../transport/pool.ts";
import { fixedLines, renderRequest } from "../transport/request-text.ts";
import { AnswerReceiver, type AnswerWaiter, type ReceivedAnswer } from "../transport/response-receiver.ts";
import type { LiveBody } from "../transport/streamed-body.ts";
import type { Answer } from "./check-response.ts";
import { headersForUpstream, isAnswerHeader } from "./headers.ts";
import type { Question } from "./question.ts";

/** One question to one replica. */
export interface Attempt {
  /** Closes the connection; nobody hears of it any more. */
  abort(): void;
}

/** Told once how an attempt ended, unless it was aborted. Functions and not promises: there are enough of those. */
export interface AttemptEnd {
  onAnswer(answer: Answer): void;
  /** A fault of the transport (faults.ts). */
  onFailure(error: unknown): void;
}

export type Send = (question: Question, end: AttemptEnd) => Attempt;

/**
 * Sends questions to one replica through express-http-proxy, under these conditions, each the cure of a trap in its
 * version 2.1.2:
 * - It is given neither the client's request nor its response, but what stands for them here. So no header of a client
 *   can travel on that is not put there, several clients can wait for one answer, and an answer that is broken has
 *   touched no client yet.
 * - Its transport is ours (its option `sendProxyRequest`; transport/), with a third of the cost of node:http's client.
 *   Its own closes every connection (`connection: close`), hangs when a service dies in the middle of a body, answers
 *   some failures itself as text/plain 504, and piles up listeners on kept connections with `timeout`.
 * - It streams: no userResDecorator, so that what is long is not held whole.
 * - Never its option `headers` (one object for all requests); `parseReqBody` off; an error handler; the path resolved
 *   here, since its own resolver rewrites characters of a target with a fragment.
 */
export function createSend({
  url,
  pool,
  serviceToken,
}: {
  readonly url: string;
  readonly pool: Pool;
  readonly serviceToken?: string | undefined;
}): Send {
  const fixed = fixedLines({ host: new URL(url).host, serviceToken });
  // It parses its host for each request, unless that is what it would make of it.
  const parsed = Object.assign(parse(url), { toString: () => url });
  const options = {
    parseReqBody: false,
    proxyReqPathResolver: ({ question }: Sending) => targetOf(question),
    proxyReqOptDecorator: (_defaults: unknown, { question }: Sending) => ({
      method: "GET",
      headers: headersForUpstream(question),
    }),
    sendProxyRequest: (container: Container) =>
      new Promise<Container>((resolve, reject) => {
        const { path, headers } = container.proxy.reqBuilder;
        const text = renderRequest({ target: path, fixed, headers });
        const onReceived = ({ head, body }: ReceivedAnswer) => {
          const pipe = (arriving: Arriving) => arriving.accept(body);
          container.proxy.res = { statusCode: head.status, headers: head.headers, pipe };
          resolve(container);
        };
        container.user.req.receive({ resolve: onReceived, reject }).sendOn(pool, text);
      }),
    proxyErrorHandler: (error: unknown, _res: unknown, next: (error: unknown) => void) => next(error),
  };
  const handle = proxy(() => parsed as never, options as never) as unknown as Handle;

  return (question, { onAnswer, onFailure }) => {
    const sending = new Sending(question);
    handle(sending, new Arriving(onAnswer), (error) =>
      onFailure(error ?? new Error("The proxy passed the request on")),
    );
    return sending;
  };
}

type Handle = (sending: Sending, arriving: Arriving, next: (error?: unknown) => void) => void;

/** What express-http-proxy hands from step to step, as far as it is used here. */
interface Container {
  readonly user: { readonly req: Sending };
  readonly proxy: {
    readonly reqBuilder: { readonly path: string; readonly headers: Readonly<Record<string, string>> };
    res?: unknown;
  };
}

function targetOf({ endpoint, query }: Question): string {
  return query === "" ? endpoint.path : `${endpoint.path}?${query}`;
}

const NONE = Object.freeze({});

/** Stands for the client's request. */
class Sending implements Attempt {
  readonly method = "GET";
  readonly headers = NONE;
  readonly params = NONE;
  readonly path: string;
  readonly question: Question;
  body: unknown = undefined;
  #receiver: AnswerReceiver | undefined;
  #isAborted = false;

  constructor(question: Question) {
    this.question = question;
    this.path = question.endpoint.path;
  }

  /** Throws when the question was given up while express-http-proxy prepared it. */
  receive(waiter: AnswerWaiter): AnswerReceiver {
    if (this.#isAborted) throw new Error("The question was given up");
    this.#receiver = new AnswerReceiver(this.question.reading, waiter);
    return this.#receiver;
  }

  abort(): void {
    this.#isAborted = true;
    this.#receiver?.abort();
  }
}

/** Stands for the client's response: takes status and headers, and then the body. */
class Arriving {
  readonly headersSent = false;
  readonly #headers: Record<string, string> = {};
  readonly #onAnswer: (answer: Answer) => void;
  #status = 0;

  constructor(onAnswer: (answer: Answer) => void) {
    this.#onAnswer = onAnswer;
  }
  status(code: number): void {
    this.#status = code;
  }
  set(name: string, value: string): void {
    if (isAnswerHeader(name)) this.#headers[name] = value;
  }
  getHeaders(): Readonly<Record<string, string>> {
    return this.#headers;
  }
  accept(body: Buffer | LiveBody): void {
    this.#onAnswer({ status: this.#status, headers: this.#headers, body });
  }
}
