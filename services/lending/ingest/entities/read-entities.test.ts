import { expect } from "chai";
import { describe, it } from "mocha";
import { UpstreamError } from "../../../shared/evm/port.ts";
import type { DeployedProtocol } from "../../deployments.ts";
import {
  type ContractReader,
  type EntityRef,
  type LendingProtocol,
  UnreadableEntity,
} from "../../protocols/protocol.ts";
import { CallMemory } from "./call-memory.ts";
import { readEntities } from "./read-entities.ts";

const ref = (id: string): EntityRef => ({ kind: "node", id });

/** Entities that read as a function says; records how many are read concurrently. */
function protocolOf(read: (id: string) => Promise<{ found?: string[] }>) {
  const watch = { now: 0, most: 0 };
  const protocol: Pick<LendingProtocol, "read"> = {
    async read({ id }, { previous }) {
      watch.most = Math.max(watch.most, ++watch.now);
      await new Promise((resolve) => setImmediate(resolve));
      try {
        const { found = [] } = await read(id);
        return { state: { id, previous: previous ?? null }, references: found.map(ref) };
      } finally {
        watch.now--;
      }
    },
  };
  return { watch, deployed: { protocol, deployment: {} } as unknown as DeployedProtocol };
}

const options = (deployed: DeployedProtocol, onReference: (ref: EntityRef) => boolean = () => true) => ({
  reader: {} as ContractReader,
  memory: new CallMemory(),
  protocolOf: () => deployed,
  previous: ({ id }: EntityRef) => (id === "a" ? 5n : undefined),
  onReference,
});

describe("readEntities", () => {
  it("reads entities and their references, each once, with their last state", async () => {
    const graph: Record<string, string[]> = { a: ["b", "c"], b: ["c", "d"], c: ["a"], d: ["known"] };
    const { deployed } = protocolOf(async (id) => ({ found: graph[id] ?? [] }));
    const { read, failed } = await readEntities(
      [ref("a")],
      options(deployed, ({ id }) => id !== "known"),
    );
    expect(failed).to.deep.equal([]);
    expect(read.map(({ ref: { id }, state }) => [id, state])).to.have.deep.members([
      ["a", '{"id":"a","previous":"#5"}'],
      ["b", '{"id":"b","previous":null}'],
      ["c", '{"id":"c","previous":null}'],
      ["d", '{"id":"d","previous":null}'],
    ]);
  });

  it("reads many concurrently, references too", async () => {
    const children = Array.from({ length: 1_500 }, (_, i) => `child ${i}`);
    const { watch, deployed } = protocolOf(async (id) => ({ found: id === "root" ? children : [] }));
    const { read } = await readEntities([ref("root")], options(deployed));
    expect(read).to.have.length(1_501);
    expect(watch.most).to.equal(1_000);
  });

  for (const error of [
    new UnreadableEntity("reverts"),
    new RangeError("no word 3"),
    new TypeError("not a state"),
    new SyntaxError("0x is no number"),
  ]) {
    it(`takes ${error.name} for one unreadable entity`, async () => {
      const { deployed } = protocolOf(async (id) => (id === "b" ? Promise.reject(error) : {}));
      const { read, failed } = await readEntities(["a", "b", "c"].map(ref), options(deployed));
      expect(read.map((each) => each.ref.id)).to.have.members(["a", "c"]);
      expect(failed).to.deep.equal([{ ref: ref("b"), error }]);
    });
  }

  it("ends as a whole where no endpoint responds, and starts no further entity", async () => {
    const error = new UpstreamError("no answer");
    const seen: string[] = [];
    const { deployed } = protocolOf(async (id) => {
      seen.push(id);
      return id === "b" ? Promise.reject(error) : { found: [`${id}+`] };
    });
    const caught = await readEntities(["a", "b"].map(ref), options(deployed)).catch((each: unknown) => each);
    expect(caught).to.equal(error);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(seen.filter((id) => id.length > 2)).to.deep.equal([]);
  });

  it("reports its progress", async () => {
    const { deployed } = protocolOf(async (id) => ({ found: id === "a" ? ["b"] : [] }));
    const reports: number[][] = [];
    await readEntities([ref("a")], {
      ...options(deployed),
      onDone: (done, total) => reports.push([done, total]),
    });
    expect(reports.at(-1)).to.deep.equal([2, 2]);
  });
});
