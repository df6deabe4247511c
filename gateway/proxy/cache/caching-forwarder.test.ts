import { EventEmitter } from "node:events";
import { expect } from "chai";
import { describe, it } from "mocha";
import { beginExchange } from "../../../services/shared/http/exchange.ts";
import { createLog } from "../../../services/shared/logging/log.ts";
import { createMetrics } from "../../../services/shared/metrics/metrics.ts";
import { systemClock } from "../../request/clock.ts";
import type { RequestContext } from "../../request/context.ts";
import { DeadlineExceeded, RequestCancelled } from "../../request/errors.ts";
import type { Answer } from "../upstream/check-response.ts";
import { createCachingForwarder } from "./caching-forwarder.ts";
import { createResponseCache } from "./response-cache.ts";

const sinks = {
  log: createLog({ name: "test", level: "error", destination: { write: () => {} } }),
  metrics: createMetrics({ name: "test" }),
};

/** A client that waits, and may leave. */
function createClient(query = "a=1") {
  const res = Object.assign(new EventEmitter(), { destroyed: false, getHeader: () => undefined });
  const req = { headers: {}, method: "GET" };
  const exchange = beginExchange(sinks, { req, res } as never);
  const passage = {
    ...{ req, res, query, session: exchange.session, fields: {}, arrivedMs: systemClock.monotonicMs() },
    endpoint: { path: "/evm/dexes", mediaType: "application/json" },
  } as unknown as RequestContext;
  const leave = () => {
    res.destroyed = true;
    res.emit("close");
  };
  return { passage, leave };
}

/** A question to a service. */
interface Asking {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  isGivenUp: boolean;
}

/** A gateway whose services answer when the test says so. */
function createScene(deadlineMs = 60_000, kept = createResponseCache({ maxBytes: 1_000_000 })) {
  const questions: Asking[] = [];
  const sent: { passage: RequestContext; body: string }[] = [];
  const forward = createCachingForwarder({
    kept,
    clock: systemClock,
    deadlineMs,
    ask: (_question, { onAnswer, onFailure }) => {
      const question: Asking = { resolve: onAnswer, reject: onFailure, isGivenUp: false };
      questions.push(question);
      const abandon = () => {
        question.isGivenUp = true;
        onFailure(new RequestCancelled("Nobody waits for the answer"));
      };
      return { abandon };
    },
    delivery: {
      sendWhole: (passage, { body }) => void sent.push({ passage, body: body.toString() }),
      sendStreamed: (passage) => void sent.push({ passage, body: "live" }),
      sendNotModified: (passage) => void sent.push({ passage, body: "304" }),
    },
  });
  return { forward, questions, sent };
}

const table = (text: string): Answer => ({ status: 200, headers: {}, body: Buffer.from(text) });

describe("cached forward: flights", () => {
  it("asks once for all who ask the same, and answers them in their order", async () => {
    const { forward, questions, sent } = createScene();
    const clients = [createClient(), createClient(), createClient(), createClient("a=2")];
    const done = clients.map(({ passage }) => forward(passage));
    expect(questions).to.have.length(2);
    questions[0]?.resolve(table("one"));
    questions[1]?.resolve(table("two"));
    await Promise.all(done);
    expect(sent.map(({ body }) => body)).to.deep.equal(["one", "one", "one", "two"]);
    expect(sent.map(({ passage }) => passage)).to.deep.equal(clients.map(({ passage }) => passage));
    expect(sent.map(({ passage }) => passage.fields.cache)).to.deep.equal([
      ...["miss", "coalesced", "coalesced", "miss"],
    ]);
  });

  it("goes on for those who stay when others leave, the first one too", async () => {
    const { forward, questions, sent } = createScene();
    const [first, second, third] = [createClient(), createClient(), createClient()];
    const done = [first, second, third].map(({ passage }) => forward(passage));
    first.leave();
    third.leave();
    expect(questions[0]?.isGivenUp).to.equal(false);
    questions[0]?.resolve(table("one"));
    await Promise.all(done);
    expect(sent.map(({ passage }) => passage)).to.deep.equal([second.passage]);
  });

  it("gives up with the last who waits; who comes in the same moment asks anew", async () => {
    const { forward, questions, sent } = createScene();
    const [first, second] = [createClient(), createClient()];
    const left = forward(first.passage);
    first.leave();
    const done = forward(second.passage);
    expect(questions.map(({ isGivenUp }) => isGivenUp)).to.deep.equal([true, false]);
    await left;
    // The end of what was given up has been heard by now, and has not struck out what followed it.
    const third = forward(createClient().passage);
    expect(questions).to.have.length(2);
    questions[1]?.resolve(table("one"));
    await Promise.all([done, third]);
    expect(sent.map(({ body }) => body)).to.deep.equal(["one", "one"]);
  });

  it("asks nobody for a client that has left before", async () => {
    const { forward, questions } = createScene();
    const client = createClient();
    client.leave();
    await forward(client.passage);
    expect(questions).to.be.empty;
  });

  it("asks anew for who has time left when the first one's deadline is over, once for all of them", async () => {
    const { forward, questions, sent } = createScene();
    const done = [createClient(), createClient(), createClient()].map(({ passage }) => forward(passage));
    questions[0]?.reject(new DeadlineExceeded(60_000));
    const [first, second, third] = await Promise.race([
      Promise.allSettled(done),
      new Promise<undefined[]>((resolve) => setImmediate(resolve, [])),
    ]);
    expect([first, second, third], "still waiting").to.deep.equal([undefined, undefined, undefined]);
    expect(questions).to.have.length(2);
    questions[1]?.resolve(table("late"));
    const ends = await Promise.allSettled(done);
    expect(ends.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
    expect(sent.map(({ body }) => body)).to.deep.equal(["late", "late"]);
  });

  it("fails all of them with what the service said, and keeps nothing", async () => {
    const { forward, questions } = createScene();
    const done = [createClient(), createClient()].map(({ passage }) => forward(passage));
    const error = new Error("broken");
    questions[0]?.reject(error);
    const ends = await Promise.allSettled(done);
    expect(ends).to.deep.equal([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
    void forward(createClient().passage);
    expect(questions).to.have.length(2);
  });

  it("fails all of them, and leaves nobody waiting, where an answer cannot be kept", async () => {
    const error = new Error("no room");
    const put = () => {
      throw error;
    };
    const { forward, questions } = createScene(60_000, { get: () => undefined, put, size: 0, bytes: 0 });
    const done = [createClient(), createClient()].map(({ passage }) => forward(passage));
    questions[0]?.resolve({ ...table("one"), headers: { "cache-control": "max-age=1" } });
    const ends = await Promise.allSettled(done);
    expect(ends).to.deep.equal([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
  });
});
