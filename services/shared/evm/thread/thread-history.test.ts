import { expect } from "chai";
import { describe, it } from "mocha";
import { collectGarbage } from "../../testkit/collect-garbage.ts";
import type { EvmSource, HistoryPart } from "../port.ts";
import { createThreadHistory, type HistoryRequest, refuseHistory, serveHistories } from "./thread-history.ts";

const RANGE = { fromBlock: 1, toBlock: 9 };
const FILTER = { topics: [] };
const part = (number: number): HistoryPart => ({
  range: { fromBlock: number, toBlock: number },
  blocks: [],
});

/** A source whose history is these parts; records what becomes of it. */
function sourceOf(numbers: readonly number[], { failure }: { failure?: Error } = {}) {
  const events: string[] = [];
  const source = {
    async *history(_range: unknown, _filter: unknown, signal: AbortSignal) {
      signal.addEventListener("abort", () => events.push("aborted"));
      for (const number of numbers) {
        events.push(`read ${number}`);
        yield part(number);
      }
      if (failure !== undefined) throw failure;
    },
    distrustHistory: (reason: string) => events.push(reason),
  } as unknown as EvmSource;
  return { source, events };
}

const neverAborted = () => new AbortController().signal;
async function read(history: AsyncIterable<HistoryPart> | undefined): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { range } of history ?? []) numbers.push(range.fromBlock);
  return numbers;
}

describe("createThreadHistory", () => {
  it("brings the parts of the thread's source in order, several histories at once", async () => {
    const local = sourceOf([100]);
    const { source } = sourceOf([1, 2, 3]);
    const { history } = createThreadHistory(local.source, serveHistories(source));
    const both = [read(history(RANGE, FILTER, neverAborted())), read(history(RANGE, FILTER, neverAborted()))];
    expect(await Promise.all(both)).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(local.events).to.deep.equal([]);
  });

  it("asks for one part ahead, and ends the thread's history with its consumer", async () => {
    const { source, events } = sourceOf([1, 2, 3, 4, 5]);
    const { history } = createThreadHistory(sourceOf([]).source, serveHistories(source));
    for await (const _ of history(RANGE, FILTER, neverAborted())) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).to.deep.equal(["read 1", "read 2", "aborted"]);
  });

  it("holds no part that its consumer has let go", async () => {
    const { source } = sourceOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const serve = serveHistories(source);
    const parts: WeakRef<object>[] = [];
    const request = async (asked: HistoryRequest) => {
      const answer = await serve(asked);
      if (typeof answer === "object" && answer !== null) parts.push(new WeakRef(answer));
      return answer;
    };
    const { history } = createThreadHistory(sourceOf([]).source, request);
    let held: (object | undefined)[] = [];
    let read = 0;
    for await (const _ of history(RANGE, FILTER, neverAborted())) {
      if (++read < 9) continue;
      // While it goes on: what lives as long as the history is gone with it.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      // The last ones may still be on the stack.
      held = parts.slice(0, 7).map((part) => part.deref());
      break;
    }
    expect(held).to.deep.equal(Array(7).fill(undefined));
  });

  it("waits for a thread that starts, and does without one that does not", async () => {
    const { source } = sourceOf([1, 2]);
    const serve = serveHistories(source);
    let isUp = false;
    setTimeout(() => {
      isUp = true;
    }, 120);
    const starting = (request: HistoryRequest) => (isUp ? serve(request) : refuseHistory(request));
    const late = createThreadHistory(sourceOf([100]).source, starting);
    expect(await read(late.history(RANGE, FILTER, neverAborted()))).to.deep.equal([1, 2]);
    const never = createThreadHistory(sourceOf([100]).source, refuseHistory);
    expect(await read(never.history(RANGE, FILTER, neverAborted()))).to.deep.equal([100]);
  });

  it("ends where the thread dies, and passes errors and the signal's reason on", async () => {
    const { source } = sourceOf([1, 2, 3]);
    const serve = serveHistories(source);
    let requests = 0;
    const dying = (request: HistoryRequest) => (requests++ < 2 ? serve(request) : refuseHistory(request));
    const { history } = createThreadHistory(sourceOf([100]).source, dying);
    expect(await read(history(RANGE, FILTER, neverAborted()))).to.deep.equal([1]);

    const failing = sourceOf([1], { failure: new Error("the node is gone") });
    const broken = createThreadHistory(sourceOf([]).source, serveHistories(failing.source));
    const error = await read(broken.history(RANGE, FILTER, neverAborted())).catch(
      (caught: unknown) => caught,
    );
    expect(error).to.have.property("message", "the node is gone");

    const stop = new AbortController();
    const hanging = createThreadHistory(sourceOf([]).source, async ({ kind }) =>
      kind === "open" ? true : new Promise(() => {}),
    );
    setTimeout(() => stop.abort(new Error("enough")), 10);
    const reason = await read(hanging.history(RANGE, FILTER, stop.signal)).catch((caught: unknown) => caught);
    expect(reason).to.have.property("message", "enough");
  });

  it("tells the source that it reads from what is not to be trusted", async () => {
    const [local, remote] = [sourceOf([]), sourceOf([])];
    createThreadHistory(local.source, serveHistories(remote.source)).distrustHistory("a lie");
    createThreadHistory(local.source, refuseHistory).distrustHistory("no thread");
    await new Promise((resolve) => setImmediate(resolve));
    expect([local.events, remote.events]).to.deep.equal([["no thread"], ["a lie"]]);
  });
});
