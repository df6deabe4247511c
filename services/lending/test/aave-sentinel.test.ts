import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData, getContractAddress, type Hex, zeroAddress } from "viem";
import { aaveTransactions } from "../../../deploy/devnet/aave/transactions.ts";
import { aaveProviderAbi, aaveSequencerAbi } from "../../../deploy/devnet/contracts/aave/abi.ts";
import { aaveCreation } from "../../../deploy/devnet/contracts/aave/genuine.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { aaveV3 } from "../protocols/aave-v3/protocol.ts";
import { reserveRow } from "../protocols/aave-v3/rows.ts";
import { type ReserveState, reserveRef } from "../protocols/aave-v3/state.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import type { VaultRow } from "../protocols/rows.ts";
import { entities } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { type IndexedChain, indexLending, startTestIngest, type TestIngest } from "./harness.ts";

const GRACE_S = 3_600;

describeWithChain("aave-v3: the price oracle sentinel of a market", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  let feed: Hex;
  let sentinel: Hex;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["aave-v3"] });
    indexed = await indexLending(chain);
    ingest = await startTestIngest(indexed, { refreshSeconds: 1_000_000 });
    const { provider } = chain.aave.deployment;
    const from = chain.accounts[9] as Hex;
    const nonce = await chain.client.getTransactionCount({ address: from });
    [feed, sentinel] = [0, 1].map((offset) =>
      getContractAddress({ from, nonce: BigInt(nonce + offset) }).toLowerCase(),
    ) as [Hex, Hex];
    const creations = [
      aaveCreation("SequencerOracle", { types: "address", args: [from] }),
      aaveCreation("PriceOracleSentinel", {
        types: "address, address, uint256",
        args: [provider, feed, BigInt(GRACE_S)],
      }),
    ];
    await mined(creations.map((data) => ({ from, data, gas: "0x2dc6c0" })));
  });
  after(async () => {
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  const mined = async (transactions: Parameters<TestChain["sendTransactions"]>[0]) => {
    const hashes = await chain.sendTransactions(transactions);
    await chain.mine(1, { intervalS: 2 });
    for (const hash of hashes)
      expect((await chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
  };
  const tell = async (isDown: boolean) => {
    const { timestamp } = await chain.header(await chain.headNumber());
    const args = [isDown, BigInt(timestamp)] as const;
    const data = encodeFunctionData({ abi: aaveSequencerAbi, functionName: "setAnswer", args });
    await mined([{ from: chain.accounts[9] as Hex, to: feed, data, gas: "0x30d40" }]);
  };
  const name = async (address: Hex) => {
    const { provider, owner } = chain.aave.deployment;
    const data = encodeFunctionData({
      ...{ abi: aaveProviderAbi, functionName: "setPriceOracleSentinel", args: [address] },
    } as const);
    await mined([{ from: owner, to: provider, data, gas: "0x30d40" }]);
  };

  async function stored() {
    await ingest.catchUp();
    const table = new EntityMap();
    for (const { kind, id, state, block, time } of await ingest.store.find(entities, {})) {
      if (state !== null && block !== null && time !== null)
        table.put({ kind, id, state: fromStateText(state), block, time });
    }
    return table;
  }
  /** Whether WETH is borrowable, by its row and by a loan that is tried. */
  async function borrowable(): Promise<[boolean, boolean]> {
    const table = await stored();
    const { provider, pool } = chain.aave.deployment;
    const deployment = { markets: [{ name: "Devnet", provider }] };
    const at = { chainId: 8453, time: ingest.checkpoint().blockTime, deployment };
    const rows = [...aaveV3.rows(table, at)] as VaultRow[];
    const asset = chain.deployment.tokens.WETH.address;
    const row = rows.find(({ underlying }) => underlying.address === asset) as VaultRow;
    expect(row.depositEnabled).to.equal(true);
    const user = chain.aave.users[3] as Hex;
    const { to, data } = aaveTransactions.borrow(user, pool, { asset, amount: 10n ** 15n });
    const loan = chain.client.call({ account: user, to: to as Hex, data: data as Hex });
    return [
      row.borrowable,
      await loan.then(
        () => true,
        () => false,
      ),
    ];
  }

  it("stops lending while the sequencer is down and for a time after, though no contract of the market says so", async () => {
    await tell(false);
    expect(await borrowable()).to.deep.equal([true, true]);
    await name(sentinel);
    // Its feed was told a moment ago: the time of grace runs.
    expect(await borrowable()).to.deep.equal([false, false]);
    await chain.mine(1, { intervalS: GRACE_S + 60 });
    expect(await borrowable()).to.deep.equal([true, true]);
    await tell(true);
    expect(await borrowable()).to.deep.equal([false, false]);
    await tell(false);
    await chain.mine(1, { intervalS: GRACE_S - 60 });
    expect(await borrowable()).to.deep.equal([false, false]);
    await chain.mine(1, { intervalS: 120 });
    expect(await borrowable()).to.deep.equal([true, true]);
  });

  it("stops lending where the sentinel does not answer, until the market names another one or none", async () => {
    await name(chain.aave.deployment.oracle);
    expect(await borrowable()).to.deep.equal([false, false]);
    await name(zeroAddress);
    expect(await borrowable()).to.deep.equal([true, true]);
  });

  it("is asked no more since v3.7", async () => {
    const { pool } = chain.aave.deployment;
    const { kind, id } = reserveRef(pool, chain.deployment.tokens.WETH.address);
    const reserve = (await stored()).get<ReserveState>(kind, id)?.state as ReserveState;
    const at = { pool, eModes: [], sentinelLends: false, time: ingest.checkpoint().blockTime };
    const lendsAt = (revision: number) => reserveRow({ ...reserve, revision }, at).borrowable;
    expect([1, 3, 4, 10, 11, 12].map(lendsAt)).to.deep.equal([false, false, false, false, true, true]);
  });
});
