import { expect } from "chai";
import { describe, it } from "mocha";
import type { Multicall } from "../../../shared/evm/multicall/multicall.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { DeployedProtocol } from "../../deployments.ts";
import { type LendingProtocol, UnreadableEntity } from "../../protocols/protocol.ts";
import { fakeProtocol } from "../../test/fake-protocol.ts";
import { unreadEntityRow } from "../discover.ts";
import { CallMemory } from "../entities/call-memory.ts";
import { EntityRegistry } from "../entities/entity-registry.ts";
import { ProtocolRegistry } from "../entities/protocol-registry.ts";
import type { TokenCache } from "../entities/token-cache.ts";
import { readPass } from "./pass.ts";

const HASH: Hex = `0x${"1".repeat(64)}`;
const CONTRACT: Hex = `0x${"2".repeat(40)}`;
const KIND = "vault";

/** Vaults whose only call reverts as often as told. */
const protocol: LendingProtocol = {
  ...fakeProtocol("euler-v2"),
  kinds: [KIND],
  async read({ id }, { reader }) {
    const data = await reader.call(CONTRACT, `0x${Buffer.from(id).toString("hex")}`);
    if (data === null) throw new UnreadableEntity(`${id} reverts`);
    return { state: data };
  },
};

/** Reads the vaults at one head; `reverts` says how often each call reverts before it returns. */
async function read(
  reverts: Readonly<Record<string, number>>,
  failures: Readonly<Record<string, number>> = {},
) {
  const registry = new EntityRegistry();
  for (const id of Object.keys(reverts)) {
    const row = unreadEntityRow({ chainId: 1, kind: KIND, id, version: 1, foundBlock: 1 });
    registry.put({ ...row, failures: failures[id] ?? 0 });
  }
  const left = new Map(Object.entries(reverts));
  const calls: string[] = [];
  const multicall = {
    address: CONTRACT,
    at: () => ({
      async call(_: Hex, data: Hex): Promise<Hex | null> {
        const id = Buffer.from(data.slice(2), "hex").toString();
        calls.push(id);
        const times = left.get(id) ?? 0;
        left.set(id, times - 1);
        return times > 0 ? null : "0x01";
      },
    }),
  } as unknown as Multicall;
  const protocols = new ProtocolRegistry({
    protocols: [{ protocol, deployment: {} } as DeployedProtocol],
    oracles: { aave: [], feeds: [] },
  });
  const tokens = {} as TokenCache;
  const head = { number: 9, hash: HASH, parentHash: HASH, timestamp: 9 };
  const readings = await readPass(
    { chainId: 1, protocols, registry, tokens, multicall, memory: new CallMemory() },
    {
      head: head as never,
      batch: { logs: [] } as never,
      ...{ replacedAbove: undefined, removedAbove: undefined, include: "all" },
    },
  );
  const ids = (list: readonly { ref: { id: string } }[]) => list.map(({ ref }) => ref.id).sort();
  return { read: ids(readings.read), failed: ids(readings.failed), calls: calls.sort() };
}

describe("a pass over entities", () => {
  it("looks a second time before it takes an entity for unreadable: a node may be between two blocks", async () => {
    expect(await read({ a: 0, b: 1, c: 2 })).to.deep.equal({
      ...{ read: ["a", "b"], failed: ["c"], calls: ["a", "b", "b", "c", "c"] },
    });
  });

  it("looks once at what is known to be unreadable", async () => {
    expect(await read({ a: 1, b: 0 }, { a: 1, b: 1 })).to.deep.equal({
      ...{ read: ["b"], failed: ["a"], calls: ["a", "b"] },
    });
  });
});
