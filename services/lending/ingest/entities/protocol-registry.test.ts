import { expect } from "chai";
import { describe, it } from "mocha";
import { fakeLog, TOPIC } from "../../../shared/evm/testkit/fake-chain.ts";
import type { DeployedProtocol } from "../../deployments.ts";
import type { LendingProtocol } from "../../protocols/protocol.ts";
import { ProtocolRegistry } from "./protocol-registry.ts";

const OTHER = `0x${"1".repeat(64)}` as const;
const NO_ORACLES = { oracles: { aave: [], feeds: [] } };
const known = { has: () => false, state: () => undefined };

function deployed(kind: string, options: Partial<LendingProtocol>): DeployedProtocol {
  const protocol = {
    kinds: [kind],
    topics: [TOPIC],
    roots: () => [],
    scans: () => [],
    affectedEntities: () => [],
    ...options,
  };
  return { protocol: protocol as unknown as LendingProtocol, deployment: kind };
}

describe("ProtocolRegistry", () => {
  it("passes a log to every protocol with its topic, each with its own deployment", () => {
    const registry = new ProtocolRegistry({
      ...NO_ORACLES,
      protocols: [
        deployed("a", { affectedEntities: (_, { deployment }) => [{ kind: String(deployment), id: "1" }] }),
        deployed("b", { affectedEntities: (_, { deployment }) => [{ kind: String(deployment), id: "2" }] }),
        deployed("c", { topics: [OTHER], affectedEntities: () => [{ kind: "c", id: "3" }] }),
      ],
    });
    expect(registry.affectedEntities(fakeLog(1), known).map(({ kind }) => kind)).to.deep.equal(["a", "b"]);
    expect(registry.topics).to.have.members([TOPIC, OTHER]);
    expect([...registry.kinds]).to.deep.equal(["a", "b", "c", "price-oracle"]);
    expect(() => registry.forKind("d")).to.throw("No protocol of this chain has entities of kind d.");
  });

  it("ignores malformed logs: any contract may emit one with the topic", () => {
    const fail = () => {
      throw new RangeError("Cannot read topic: it is not there");
    };
    expect(
      new ProtocolRegistry({
        ...NO_ORACLES,
        protocols: [deployed("a", { affectedEntities: fail })],
      }).affectedEntities(fakeLog(1), known),
    ).to.deep.equal([]);
    const broken = () => {
      throw new Error("a bug");
    };
    const registry = new ProtocolRegistry({
      ...NO_ORACLES,
      protocols: [deployed("a", { affectedEntities: broken })],
    });
    expect(() => registry.affectedEntities(fakeLog(1), known)).to.throw("a bug");
  });
});
