import { expect } from "chai";
import { describe, it } from "mocha";
import { createHeadSubscription } from "./head-subscription.ts";
import { createFakeClock } from "./testkit/fake-network.ts";

const NEW_HEAD = JSON.stringify({
  jsonrpc: "2.0",
  method: "eth_subscription",
  params: { result: { number: "0x1" } },
});

/** The part of WebSocket that the wake-up uses. */
class FakeSocket {
  static opened: FakeSocket[] = [];
  readonly url: string;
  readonly sent: string[] = [];
  closed = false;
  onopen: (() => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: (() => void) | undefined;
  onclose: (() => void) | undefined;
  constructor(url: string) {
    this.url = url;
    FakeSocket.opened.push(this);
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.closed = true;
  }
}

function setUp(urls = ["wss://a.test/key"], socketClass: unknown = FakeSocket) {
  FakeSocket.opened = [];
  const clock = createFakeClock();
  const wake = createHeadSubscription({
    subscribe: { method: "eth_subscribe", params: ["newHeads"] },
    notification: "eth_subscription",
    urls,
    clock,
    log: () => {},
    socketClass: socketClass as typeof WebSocket,
  });
  const wait = (ms: number, signal = new AbortController().signal) => wake.wait(ms, signal);
  return { clock, wake, wait, sockets: () => FakeSocket.opened };
}

describe("createHeadWake", () => {
  it("falls back to the timer without a URL and without a WebSocket class", async () => {
    for (const { clock, wait } of [setUp([]), setUp(["wss://a.test"], undefined)]) {
      await clock.run(wait(500));
      expect(clock.now()).to.equal(500);
    }
  });

  it("subscribes and wakes on a new head", async () => {
    const { clock, wait, sockets } = setUp();
    const waiting = wait(10_000);
    sockets()[0]?.onopen?.();
    expect(sockets()[0]?.sent.join()).to.contain("newHeads");
    sockets()[0]?.onmessage?.({ data: NEW_HEAD });
    await clock.run(waiting);
    expect(clock.now()).to.equal(0);
  });

  it("does not wake on the answer to the subscription", async () => {
    const { clock, wait, sockets } = setUp();
    const waiting = wait(700);
    sockets()[0]?.onmessage?.({ data: '{"id":1,"result":"0xabc"}' });
    await clock.run(waiting);
    expect(clock.now()).to.equal(700);
  });

  it("remembers one head that arrived while no caller waited", async () => {
    const { clock, wait, sockets } = setUp();
    await clock.run(wait(1));
    sockets()[0]?.onmessage?.({ data: NEW_HEAD });
    sockets()[0]?.onmessage?.({ data: NEW_HEAD });
    await clock.run(wait(500));
    expect(clock.now()).to.equal(1);
    await clock.run(wait(500));
    expect(clock.now()).to.equal(501);
  });

  it("keeps the timer when the socket breaks, and tries another URL later", async () => {
    const { clock, wait, sockets } = setUp(["wss://a.test", "wss://b.test"]);
    const waiting = wait(500);
    sockets()[0]?.onerror?.();
    sockets()[0]?.onclose?.();
    await clock.run(waiting);
    expect(sockets()).to.have.length(1);
    await clock.run(wait(1_000));
    await clock.run(wait(1));
    expect(sockets().map((socket) => socket.url)).to.deep.equal(["wss://a.test", "wss://b.test"]);
  });

  it("replaces a socket that has been silent for a minute", async () => {
    const { clock, wait, sockets } = setUp();
    await clock.run(wait(61_000));
    await clock.run(wait(2_000));
    await clock.run(wait(1));
    expect(sockets()).to.have.length(2);
    expect(sockets()[0]?.closed).to.equal(true);
  });

  it("ends with the signal and with close", async () => {
    const { clock, wake, wait, sockets } = setUp();
    const stop = new AbortController();
    const waiting = wait(10_000, stop.signal);
    stop.abort();
    await clock.run(waiting);
    const other = wait(10_000);
    wake.close();
    await clock.run(other);
    expect(clock.now()).to.equal(0);
    expect(sockets()[0]?.closed).to.equal(true);
  });

  it("survives a class that throws", async () => {
    const { clock, wait } = setUp(
      ["wss://a.test"],
      class {
        constructor() {
          throw new Error("no sockets today");
        }
      },
    );
    await clock.run(wait(300));
    expect(clock.now()).to.equal(300);
  });
});
