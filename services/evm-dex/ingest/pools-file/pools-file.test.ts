import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import type { EvmSource, RawLog } from "../../../shared/evm/port.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments, Factory } from "../../deployments.ts";
import {
  checkpoints,
  discoveries,
  type PoolRow,
  poolListings,
  pools,
  tokens,
} from "../../store/collections.ts";
import { gauges } from "../../store/v2-collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, checkpointRow, hash, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { toListing } from "../../views/pool-listing.ts";
import { parsePoolsCall, UsageError } from "./arguments.ts";
import { exportPools, NothingToExport } from "./export.ts";
import { BadPoolsFile, type PoolsFile, PoolsFileWriter, readPoolsFile } from "./format.ts";
import { importPools, planImport } from "./import.ts";
import { samplePools } from "./sample.ts";

const VOTER = address(0x707);
const V3: Factory = {
  ...{ address: address(0xfac), dexName: "Uniswap V3", family: "dexb", kind: "uniswap-v3", fromBlock: 10 },
};
const V2: Factory = {
  ...{
    address: address(0xfad),
    dexName: "Aerodrome V2",
    family: "dexa",
    kind: "aerodrome-v2",
    fromBlock: 20,
  },
  rewards: { voter: VOTER, token: address(1) },
};
const CHAIN: ChainDeployments = { chainId: CHAIN_ID, name: "Base", stablecoins: [], factories: [V3, V2] };
/** The index begins at block 1,000, and has indexed and seen final what its checkpoint and FINAL say. */
const CHECKPOINT = checkpointRow({ fromBlock: 1_000, blockNumber: 1_500 });
const FINAL = 1_400;

const row = (n: number, factory: Factory, createdBlock: number): PoolRow =>
  poolRow({
    ...{
      poolAddress: address(0x9000 + n),
      dexAddress: factory.address,
      dexName: factory.dexName,
      createdBlock,
    },
    ...{ family: factory.family, protocol: factory.kind, createdAt: 1_700_000_000 + 2 * createdBlock },
    ...{ token0Address: address(0x100 + n), token0Symbol: `Ŧ${n}`, token0Decimals: n % 19, fee: 500 * n },
    ...{ tickSpacing: factory === V3 ? 10 : 0, stable: factory === V2 && n % 2 === 0 },
  });
const ROWS = [
  ...[11, 400, 999, 1_200, 1_400, 1_450].map((block, n) => row(n, V3, block)),
  ...[20, 500, 1_300].map((block, n) => row(20 + n, V2, block)),
  row(40, { ...V3, address: address(0xbad) }, 300),
];
const GAUGE = {
  chainId: CHAIN_ID,
  gauge: address(0xa1),
  poolAddress: address(0x9000 + 20),
  voter: VOTER,
  createdBlock: 30,
};

async function fill(store: Store, rows: readonly PoolRow[]): Promise<void> {
  const contracts = [V3.address, V2.address, VOTER];
  await store.write([
    put(checkpoints, [CHECKPOINT]),
    put(finalBlocks, [{ chainId: CHAIN_ID, number: FINAL, hash: hash(FINAL), time: 1 }]),
    put(pools, rows),
    put(gauges, [GAUGE]),
    put(
      discoveries,
      contracts.map((factory) => ({ chainId: CHAIN_ID, factory, blockNumber: 999 })),
    ),
  ]);
}

async function failure(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  return error as Error;
}

describe("pools files", () => {
  let store: Store;
  let target: Store;
  beforeEach(async () => {
    store = await openTestStore();
    target = await openTestStore();
    await fill(store, ROWS);
  });
  afterEach(async () => {
    await store.close();
    await target.close();
  });

  const exported = async (): Promise<PoolsFile> =>
    readPoolsFile((await (await exportPools(store, CHAIN)).pack()).bytes);
  const take = async (file: PoolsFile, chain = CHAIN) =>
    importPools(target, { file, chain, plan: await planImport(target, { file, chain }), guard: () => [] });
  const progress = async () =>
    Object.fromEntries(
      (await target.find(discoveries, {})).map(({ factory, blockNumber }) => [factory, blockNumber]),
    );

  it("carry every final pool of the factories into an empty store, row for row", async () => {
    expect(await take(await exported())).to.deep.equal({ pools: 8, gauges: 1 });
    const expected = ROWS.filter(
      ({ createdBlock, dexAddress }) => createdBlock <= FINAL && dexAddress !== address(0xbad),
    );
    expect(await target.find(pools, {})).to.deep.equal(expected);
    expect(
      await target.find(poolListings, { order: [{ field: "poolAddress", direction: "asc" }] }),
    ).to.have.deep.members(expected.map(toListing));
    expect(await target.find(gauges, {})).to.deep.equal([GAUGE]);
    expect(await target.count(tokens, {})).to.equal(9);
    expect(await progress()).to.deep.equal({ [V3.address]: FINAL, [V2.address]: FINAL, [VOTER]: FINAL });
  });

  it("end for each factory where its scan has come, while the discovery is not over", async () => {
    await store.write([put(discoveries, [{ chainId: CHAIN_ID, factory: V3.address, blockNumber: 450 }])]);
    const file = await exported();
    expect(file.contracts.map(({ blockNumber }) => blockNumber)).to.deep.equal([450, FINAL, FINAL]);
    expect([...file.pools()].filter(({ contract }) => contract === 0)).to.have.length(2);
  });

  it("give an index what is before its first block, and keep the tokens that it has read", async () => {
    await target.write([
      put(checkpoints, [{ ...CHECKPOINT, fromBlock: 600, blockNumber: 599 }]),
      put(discoveries, [{ chainId: CHAIN_ID, factory: V3.address, blockNumber: 300 }]),
      put(tokens, [{ chainId: CHAIN_ID, address: address(0x101), symbol: "READ", decimals: 7 }]),
    ]);
    await take(await exported());
    const found = await target.find(pools, {});
    expect(found.map(({ createdBlock }) => createdBlock)).to.deep.equal([400, 20, 500]);
    expect(found[0]).to.include({ token0Symbol: "READ", token0Decimals: 7 });
    expect(await progress()).to.deep.equal({ [V3.address]: 599, [V2.address]: 599, [VOTER]: 599 });
  });

  it("leave a factory that an index still has to catch up with recognizable", async () => {
    await target.write([
      put(checkpoints, [CHECKPOINT]),
      put(
        discoveries,
        [V2.address, VOTER].map((factory) => ({ chainId: CHAIN_ID, factory, blockNumber: 999 })),
      ),
    ]);
    await take(await exported());
    expect(await progress()).to.deep.equal({ [V3.address]: 998, [V2.address]: 999, [VOTER]: 999 });
  });

  it("are refused for another chain, a gap, another kind, and where they are older", async () => {
    const file = await exported();
    const refusal = async (given: PoolsFile, chain = CHAIN) =>
      (await failure(planImport(target, { file: given, chain }))).message;
    expect(await refusal({ ...file, chainId: 1 })).to.equal("It holds pools of chain 1, not of chain 8453.");
    const late = file.contracts.map((contract) => ({ ...contract, fromBlock: 200 }));
    expect(await refusal({ ...file, contracts: late })).to.match(
      /fac created from block 200 on; this store ends at block 9: /,
    );
    const other = { ...CHAIN, factories: [{ ...V3, kind: "pancake-v3" as const }] };
    expect(await refusal(file, other)).to.contain(
      "is one of uniswap-v3, in the deployments it is one of pancake-v3",
    );
    expect(await refusal(file, { ...CHAIN, factories: [{ ...V3, address: address(5) }] })).to.contain(
      "None of its factories",
    );
    await target.write([put(checkpoints, [{ ...CHECKPOINT, genesisHash: hash(9) }])]);
    expect(await refusal(file)).to.contain(
      `begins with block ${hash(0)}, the one in this store with ${hash(9)}`,
    );
    await fill(target, []);
    expect(await refusal(file)).to.equal("It is older than this store, which has all that it holds.");
  });

  it("need an index with a final block", async () => {
    expect(await failure(exportPools(target, CHAIN))).to.be.instanceOf(NothingToExport);
    await target.write([put(checkpoints, [CHECKPOINT])]);
    expect((await failure(exportPools(target, CHAIN))).message).to.contain("no final block yet");
  });

  it("are refused with any changed or missing byte", async () => {
    const { bytes } = await (await exportPools(store, CHAIN)).pack();
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(await failure(readPoolsFile(changed)), `byte ${at}`).to.be.instanceOf(BadPoolsFile);
    }
    for (const length of [0, 10, 31, bytes.length - 1])
      expect(await failure(readPoolsFile(bytes.subarray(0, length)))).to.be.instanceOf(BadPoolsFile);
  });

  it("with a right hash and wrong contents are refused, before they take all memory", async () => {
    const head = { chainId: CHAIN_ID, genesisHash: hash(0), contracts: [] };
    const writer = new PoolsFileWriter(head);
    const ids = {
      contract: 3,
      token0: 0,
      token1: 9,
      createdBlock: 1,
      createdAt: 1,
      fee: 1,
      tickSpacing: -5,
      stable: true,
    };
    writer.pool({ address: address(1), ...ids });
    const outside = await readPoolsFile((await writer.pack()).bytes);
    expect(() => [...outside.pools()]).to.throw("index 3 of 0");
    const bad = new PoolsFileWriter({
      ...head,
      contracts: [{ ...V3, finds: "pools", protocol: "x" as "slipstream", blockNumber: 1 }],
    });
    expect(await failure(readPoolsFile((await bad.pack()).bytes))).to.be.instanceOf(BadPoolsFile);
  });

  describe("against the chain", () => {
    const word = (value: number | string) =>
      (typeof value === "number" ? value.toString(16) : value.slice(2)).padStart(64, "0");
    const log = (pool: PoolRow): RawLog => ({
      address: V3.address,
      topics: [
        "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118",
        ...[pool.token0Address, pool.token1Address, pool.fee].map((value) => `0x${word(value)}` as const),
      ],
      data: `0x${word(pool.tickSpacing)}${word(pool.poolAddress)}`,
      ...{ blockNumber: pool.createdBlock, blockHash: hash(pool.createdBlock), transactionHash: hash(1) },
      ...{ transactionIndex: 0, logIndex: 0 },
    });
    const onChain = ROWS.slice(0, 5);
    const symbolOf = (text: string) => {
      const bytes = Buffer.from(text);
      return `0x${word(32)}${word(bytes.length)}${bytes.toString("hex").padEnd(64, "0")}` as const;
    };
    const nodeOf = (created: readonly PoolRow[], genesis = hash(0)): EvmSource => ({
      ...createFakeSource({
        call: ({ to, data }) => {
          const pool = created.find(({ token0Address }) => token0Address === to);
          const isSymbol = data.startsWith("0x95d89b41");
          if (to === address(0x11)) return isSymbol ? symbolOf("USDC") : `0x${word(6)}`;
          if (pool === undefined) return "0x01";
          return isSymbol ? symbolOf(pool.token0Symbol) : `0x${word(pool.token0Decimals)}`;
        },
      }),
      head: async () => ({
        number: 2_000,
        hash: hash(2_000),
        parentHash: hash(1_999),
        timestamp: 1,
        logsBloom: "0x",
      }),
      headers: async (numbers) =>
        numbers.map((number) => ({
          ...{
            number,
            hash: number === 0 ? genesis : hash(number),
            parentHash: hash(1),
            logsBloom: "0x" as const,
          },
          timestamp: 1_700_000_000 + 2 * number,
        })),
      logs: async ({ fromBlock, toBlock }) =>
        created.map(log).filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock),
    });
    const sample = async (source: EvmSource) => {
      const chain = { ...CHAIN, factories: [V3] };
      const file = await readPoolsFile((await (await exportPools(store, chain)).pack()).bytes);
      let turn = 0;
      return samplePools(source, { file, count: 40, random: () => (turn++ % 40) / 40 });
    };

    it("agree where the node says the same", async () => {
      const { pools: count, blocks } = await sample(nodeOf(onChain));
      expect(count).to.be.at.least(5);
      expect(blocks).to.be.at.least(25);
    });

    it("are refused where they differ in a pool, lack one, or in a token", async () => {
      const difference = async (source: EvmSource) => (await failure(sample(source))).message;
      const changed = (part: Partial<PoolRow>) =>
        nodeOf(onChain.map((pool, n) => (n === 2 ? { ...pool, ...part } : pool)));
      for (const part of [
        { fee: 1 },
        { tickSpacing: 60 },
        { token1Address: address(9) },
        { createdBlock: 998 },
      ])
        expect(await difference(changed(part)), JSON.stringify(part)).to.match(
          /Its pool 0x\S+ is not as|It lacks pool/,
        );
      expect(await difference(nodeOf(onChain.slice(1)))).to.contain("is not as");
      expect(await difference(nodeOf([...onChain, row(99, V3, 401)]))).to.contain(
        `It lacks pool ${address(0x9000 + 99)}`,
      );
      expect(await difference(changed({ token0Decimals: 3 }))).to.contain(
        "with 2 decimals, on the chain Ŧ2 with 3",
      );
      expect(await difference(nodeOf(onChain, hash(77)))).to.contain(`that of the node with ${hash(77)}`);
    });
  });
});

describe("parsePoolsCall", () => {
  it("reads both commands", () => {
    expect(parsePoolsCall(["export", "--chain", "8453", "--out", "f"])).to.deep.equal({
      kind: "export",
      chainId: 8453,
      out: "f",
      asJson: false,
    });
    const sha256 = "AB".repeat(32);
    expect(parsePoolsCall(["import", "f", "--sha256", sha256, "--json"])).to.deep.equal({
      ...{ kind: "import", file: "f", sha256: sha256.toLowerCase(), samples: 50 },
      asJson: true,
    });
    expect(parsePoolsCall(["-h"])).to.equal("help");
  });

  it("refuses others, by name", () => {
    for (const [args, words] of [
      [[], "export or import"],
      [["export", "--chain", "8453"], "--out is missing"],
      [["export", "--out", "f"], "--chain is missing"],
      [["export", "--chain", "base", "--out", "f"], '--chain takes a number, not "base"'],
      [["import"], "one file"],
      [["import", "f", "--chain", "1"], "takes its chain from the file"],
      [["import", "f", "--sha256", "12"], "--sha256 must be 64"],
      [["import", "f", "--fast"], "--fast"],
    ] as const)
      expect(() => parsePoolsCall(args)).to.throw(UsageError, words);
  });
});
