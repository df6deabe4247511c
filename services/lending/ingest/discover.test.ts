import { expect } from "chai";
import { describe, it } from "mocha";
import type { EvmSource, LogRange } from "../../shared/evm/port.ts";
import type { ProgressStep } from "../../shared/ingest-status/progress.ts";
import { ProgressModel } from "../../shared/ingest-status/progress-model.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { discoveries } from "../store/collections.ts";
import { openTestStore } from "../test/stored.ts";
import { discoverEntities } from "./discover.ts";
import { EntityRegistry } from "./entities/entity-registry.ts";
import { ProtocolRegistry } from "./entities/protocol-registry.ts";

const LAST = 25_000_000;

const asked: number[] = [];
let blocks = 0;

/** Base without a single log. */
const silent = {
  chainId: 8453,
  logs: async ({ fromBlock, toBlock }: LogRange) => {
    asked.push(fromBlock);
    blocks += toBlock - fromBlock + 1;
    return [];
  },
  headers: async (numbers: readonly number[]) =>
    numbers.map(
      (number) => ({ number, hash: "0x1", parentHash: "0x0", timestamp: number, logsBloom: "0x" }) as const,
    ),
  verifyEmpty: async () => [],
} as unknown as EvmSource;

describe("discoverEntities", () => {
  it("reads the five scans of Base in one pass, each from the birth of its contracts", async () => {
    const store = await openTestStore();
    const chain = loadDeployments(undefined).find(({ chainId }) => chainId === 8453) as ChainDeployments;
    const protocols = new ProtocolRegistry(chain);
    const model = new ProgressModel();
    const shares: number[] = [];
    const plans: ProgressStep[] = [];
    let ms = 0;
    await discoverEntities(store, {
      ...{ source: silent, protocols, version: 0, toBlock: LAST, guard: () => [] },
      registry: await EntityRegistry.load(store, { chainId: 8453, kinds: protocols.kinds }),
      signal: new AbortController().signal,
      report(step) {
        if (step.stage === "plan") plans.push(step);
        ms += 1_000;
        model.apply(step, ms);
        shares.push(model.view(ms).share ?? -1);
      },
    });
    const scans = await store.find(discoveries, {});
    const first = Math.min(...protocols.scans().map(({ scan }) => scan.fromBlock));
    expect(asked[0]).to.equal(first);
    expect(blocks, "each block once").to.equal(LAST - first + 1);
    expect(scans).to.have.length(5);
    expect(plans).to.have.length(1);
    expect(model.view(ms)).to.include({ state: "discovering", scans: 1 });
    expect(shares).to.deep.equal([...shares].sort((a, b) => a - b));
    expect(shares.filter((share) => share > 0.99).length, "full once, and not five times").to.be.below(20);
    expect(shares.at(-1)).to.equal(0.999);
    await store.close();
  });
});
