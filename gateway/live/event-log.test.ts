import { expect } from "chai";
import { describe, it } from "mocha";
import { EventLog } from "./event-log.ts";

const event = (id: string, bytes = 10) => ({ id, bytes: Buffer.alloc(bytes, id) });
const textsAfter = (log: EventLog, id: string) => log.after(id)?.map((bytes) => bytes.toString().slice(0, 1));

describe("EventLog", () => {
  it("has the events after the state that it began with, and after each of its own", () => {
    const log = new EventLog();
    log.restart("a");
    expect(textsAfter(log, "a")).to.deep.equal([]);
    for (const id of ["b", "c", "d"]) log.add(event(id));
    expect(textsAfter(log, "a")).to.deep.equal(["b", "c", "d"]);
    expect(textsAfter(log, "c")).to.deep.equal(["d"]);
    expect(textsAfter(log, "d")).to.deep.equal([]);
    expect(textsAfter(log, "x")).to.equal(undefined);
  });

  it("forgets the oldest beyond 256 events, and knows the state after the forgotten ones", () => {
    const log = new EventLog();
    log.restart("begin");
    for (let i = 0; i < 300; i += 1) log.add(event(String(i)));
    expect(log.after("begin")).to.equal(undefined);
    expect(log.after("42")).to.equal(undefined);
    expect(log.after("43")?.length).to.equal(256);
    expect(log.after("44")?.length).to.equal(255);
  });

  it("forgets the oldest beyond a MiB", () => {
    const log = new EventLog();
    log.restart("begin");
    for (let i = 0; i < 30; i += 1) log.add(event(String(i), 100_000));
    expect(log.after("19")?.length).to.equal(10);
    expect(log.after("18")).to.equal(undefined);
  });

  it("never gives the second of two events that belong together alone", () => {
    const log = new EventLog();
    log.restart("begin");
    log.add({ id: "", bytes: Buffer.alloc(600_000) });
    log.add(event("pair", 600_000));
    expect(log.after("begin")).to.equal(undefined);
    expect(log.after("")).to.equal(undefined);
    expect(log.after("pair")).to.deep.equal([]);
  });
});
