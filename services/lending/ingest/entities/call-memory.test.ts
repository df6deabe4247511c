import { expect } from "chai";
import { describe, it } from "mocha";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../../protocols/protocol.ts";
import { CallMemory } from "./call-memory.ts";

const AT: Hex = `0x${"11".repeat(20)}`;

/** Calls in the order in which they were made; each gives the next one's data. */
function createReader(fails: (data: Hex) => boolean = () => false) {
  const made: string[] = [];
  const results = new Map<string, Promise<Hex>>();
  const reader = {
    call(_: Hex, data: Hex) {
      if (!results.has(data)) {
        made.push(data);
        results.set(data, fails(data) ? Promise.reject(new Error(`no ${data}`)) : Promise.resolve(data));
      }
      return results.get(data);
    },
  } as unknown as ContractReader;
  return { made, reader };
}

async function readChained(reader: ContractReader, steps: readonly Hex[]): Promise<void> {
  for (const step of steps) await reader.call(AT, step);
}

describe("CallMemory", () => {
  it("makes the calls of the last reading at once", async () => {
    const memory = new CallMemory();
    const first = createReader();
    const opened = memory.open("a", first.reader);
    expect(first.made).to.deep.equal([]);
    await readChained(opened.reader, ["0x01", "0x02"]);
    opened.done();

    const second = createReader();
    const again = memory.open("a", second.reader);
    expect(second.made).to.deep.equal(["0x01", "0x02"]);
    await readChained(again.reader, ["0x01", "0x03"]);
    expect(second.made).to.deep.equal(["0x01", "0x02", "0x03"]);
    again.done();

    const third = createReader();
    memory.open("a", third.reader);
    memory.open("b", third.reader);
    expect(third.made).to.deep.equal(["0x01", "0x03"]);
  });

  it("leaves a failure to whoever makes the call", async () => {
    const memory = new CallMemory();
    const opened = memory.open("a", createReader().reader);
    await readChained(opened.reader, ["0x01"]);
    opened.done();
    const { reader } = memory.open("a", createReader(() => true).reader);
    await new Promise((resolve) => setImmediate(resolve));
    const error = await reader.call(AT, "0x01").catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error);
  });
});
