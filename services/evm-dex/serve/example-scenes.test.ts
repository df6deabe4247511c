import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../shared/storage/port.ts";
import {
  chains as chainsEndpoint,
  clonesPool,
  clonesPools,
  dexaPool,
  dexaProviderSummary,
  dexaV3Pool,
  dexbPool,
  dexbPools,
  prices,
} from "../contract.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { EMPTY_POSITION, positionText } from "../metrics/lp-position.ts";
import { checkpoints, type PoolRow, poolEvents, pools } from "../store/collections.ts";
import { lpEvents, lpPositions } from "../store/v2-collections.ts";
import { address, checkpointRow, eventRow, hash, openTestStore, poolRow } from "../test/kit/rows.ts";
import { findExampleScenes } from "./example-scenes.ts";

const chains = loadDeployments(undefined);

/** Pools of every family of Base, and one of Ethereum's clones. */
const POOLS: readonly Partial<PoolRow>[] = [
  { poolAddress: address(1), family: "dexb", protocol: "uniswap-v3" },
  { poolAddress: address(2), family: "dexb", protocol: "uniswap-v3", token0Address: address(0x20) },
  { poolAddress: address(3), family: "clones", protocol: "pancake-v3" },
  { poolAddress: address(4), family: "dexa", protocol: "slipstream" },
  { poolAddress: address(5), family: "dexa", protocol: "aerodrome-v2" },
  { poolAddress: address(6), family: "clones", protocol: "pancake-v3", chainId: 1 },
];

describe("evm-dex: scenes of examples", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
    await store.write([put(pools, POOLS.map(poolRow)), put(checkpoints, [checkpointRow()])]);
  });
  afterEach(() => store.close());
  const find = (endpoint: unknown, deployed: readonly ChainDeployments[] = chains) =>
    findExampleScenes({ store, chains: deployed })(endpoint as never);
  const putEvents = (addresses: readonly string[]) =>
    store.write([
      put(
        poolEvents,
        addresses.map((poolAddress, logIndex) => eventRow({ blockNumber: 190, logIndex, poolAddress })),
      ),
    ]);

  it("are of the family and the generation that the path names", async () => {
    const expected = [
      [dexbPool, [1, 2]],
      [clonesPool, [3]],
      [dexaV3Pool, [4]],
      [dexaPool, [5]],
    ] as const;
    for (const [endpoint, numbers] of expected) {
      const found = (await find(endpoint)).map((scene) => scene.pool_address);
      expect(found, endpoint.path).to.have.members(numbers.map(address));
    }
  });

  it("begin with the pools that were busiest at the head, and their tokens", async () => {
    await putEvents([1, 2, 5, 2, 4, 2, 1].map(address));
    const [first, second] = await find(dexbPools);
    expect(first).to.deep.equal({
      chain_id: "8453",
      pool_address: address(2),
      token_address: address(0x20),
      tokens: `${address(0x20)},${address(0x11)}`,
      at_block: "200",
      after_time: String(1_700_000_400 - 86_400),
      before_time: String(1_700_000_401),
    });
    expect(second?.pool_address).to.equal(address(1));
  });

  it("are of any family where the path names none", async () => {
    await putEvents([1, 5, 5].map(address));
    const found = (await find(prices)).map((scene) => scene.pool_address);
    expect(found.slice(0, 2)).to.deep.equal([address(5), address(1)]);
  });

  it("are found on another chain where the usual one is not indexed, and name it", async () => {
    await store.write([put(checkpoints, [checkpointRow({ chainId: 1 })])]);
    const ofBoth = await find(clonesPools);
    expect(ofBoth.map(({ chain_id, pool_address }) => [chain_id, pool_address])).to.deep.equal([
      ["8453", address(3)],
      ["1", address(6)],
    ]);
    const beforeFirst = checkpointRow({ blockNumber: 99 });
    await store.write([put(checkpoints, [beforeFirst])]);
    expect((await find(clonesPools)).map(({ chain_id }) => chain_id)).to.deep.equal(["1"]);
    expect(await find(dexbPools)).to.deep.equal([]);
    expect(await find(chainsEndpoint)).to.deep.equal([{ chain_id: "1" }]);
  });

  it("name a wallet that holds or stakes liquidity, busy ones first", async () => {
    const held = positionText.write({ ...EMPTY_POSITION, staked: 5n });
    const empty = positionText.write(EMPTY_POSITION);
    const common = { chainId: 8453, poolAddress: address(5) };
    const anyPosition = (n: number, position: string) => ({
      ...common,
      wallet: address(n),
      position,
      anchor: empty,
      firstTime: 1,
      lastTime: 2,
      lastBlock: 150,
    });
    await store.write([put(lpPositions, [anyPosition(0x70, empty), anyPosition(0x71, held)])]);
    expect((await find(dexaProviderSummary))[0]?.wallet_address).to.equal(address(0x71));
    const lpEvent = (n: number, position: string) => ({
      ...common,
      wallet: address(n),
      position,
      blockNumber: 190,
      logIndex: n,
      blockHash: hash(190),
      time: 1_700_000_300,
    });
    await store.write([put(lpEvents, [lpEvent(0x72, held), lpEvent(0x73, empty)])]);
    expect((await find(dexaProviderSummary))[0]?.wallet_address).to.equal(address(0x72));
  });

  it("are absent for an empty store", async () => {
    const emptyStore = await openTestStore();
    try {
      for (const endpoint of [dexbPool, dexaProviderSummary, chainsEndpoint])
        expect(await findExampleScenes({ store: emptyStore, chains })(endpoint as never)).to.deep.equal([]);
    } finally {
      await emptyStore.close();
    }
  });
});
