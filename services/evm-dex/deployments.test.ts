import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { dexTypeOf, type Factory, loadDeployments } from "./deployments.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;

const CHAIN = {
  chainId: 8453,
  name: "Base",
  stablecoins: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  factories: [
    {
      address: "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
      dexName: "Uniswap V3",
      family: "dexb",
      kind: "uniswap-v3",
      fromBlock: 1,
    },
  ],
};
const [FACTORY] = CHAIN.factories;

/** As their projects publish them. */
const SLIPSTREAM = ["Aerodrome Slipstream", "dexa", "slipstream"];
const REGISTRY = [
  [8453, "0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a", ...SLIPSTREAM],
  [8453, "0xade65c38cd4849adba595a4323a8c7ddfe89716a", ...SLIPSTREAM],
  [8453, "0x9592cd9b267748cbfbde90ac9f7df3c437a6d51b", ...SLIPSTREAM],
  [8453, "0xf8f2eb4940cfe7d13603dddd87f123820fc061ef", ...SLIPSTREAM],
  [8453, "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865", "PancakeSwap V3", "clones", "pancake-v3"],
  [1, "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865", "PancakeSwap V3", "clones", "pancake-v3"],
  [8453, "0xc35dadb65012ec5796536bd9864ed8773abc74c4", "SushiSwap V3", "clones", "uniswap-v3"],
  [1, "0xbaceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f", "SushiSwap V3", "clones", "uniswap-v3"],
  [8453, "0x0fd83557b2be93617c9c1c1b6fd549401c74558c", "Alien Base V3", "clones", "uniswap-v3"],
  [8453, "0x38015d05f4fec8afe15d7cc0386a126574e8077b", "BaseSwap V3", "clones", "uniswap-v3"],
];

describe("loadDeployments", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "chaintables-deployments-"));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  async function load(content: unknown) {
    const path = join(directory, "deployments.json");
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return loadDeployments(path);
  }
  const loadChains = (...chains: unknown[]) => load({ evmDex: { chains } });

  it("has nothing of a chain without a factory, and may be left out beside lending's section", async () => {
    expect(await loadChains({ ...CHAIN, factories: [] })).to.deep.equal([]);
    expect(await loadChains()).to.deep.equal([]);
    expect(await load({ lending: { chains: [] } })).to.deep.equal([]);
    const error = await load({ evmdex: { chains: [] } }).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error).and.property("message").to.contain("evmDex");
  });

  it("has a built-in registry of Ethereum and Base, with Uniswap v3 on both", () => {
    const chains = loadDeployments(undefined);
    expect(chains.map(({ chainId, name }) => [chainId, name])).to.deep.equal([
      [1, "Ethereum"],
      [8453, "Base"],
    ]);
    for (const { factories, stablecoins } of chains) {
      for (const address of [...stablecoins, ...factories.map((factory) => factory.address)]) {
        expect(address).to.match(ADDRESS);
      }
      expect(new Set(stablecoins).size).to.equal(stablecoins.length);
      expect(new Set(factories.map(({ address }) => address)).size).to.equal(factories.length);
    }
    const uniswap = chains.map(({ factories }) => factories.find(({ dexName }) => dexName === "Uniswap V3"));
    expect(uniswap.map((factory) => factory?.address)).to.deep.equal([
      "0x1f98431c8ad98523631ae4a59f267346ea31f984",
      "0x33128a8fc17869897dce68ed026d694621f6fdfd",
    ]);
    expect(uniswap.every((factory) => factory?.family === "dexb")).to.equal(true);
    const aerodrome = chains[1]?.factories.find(({ kind }) => kind === "aerodrome-v2");
    expect(aerodrome).to.include({
      address: "0x420dd381b31aef6683db6b902084cb0ffece40da",
      family: "dexa",
      dexName: "Aerodrome V2",
    });
    expect(aerodrome?.rewards).to.deep.equal({
      voter: "0x16613524e02ad97edfef371bc883f2f5d6c480a5",
      token: "0x940181a94a35a4569e4529a3cdfb74e38fd98631",
    });
    // USDC of either chain is an anchor.
    expect(chains[0]?.stablecoins).to.include("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
    expect(chains[1]?.stablecoins).to.include("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913");
  });

  it("has every generation of Slipstream, and the clones with known events", () => {
    const rows = loadDeployments(undefined).flatMap(({ chainId, factories }) =>
      factories.map(({ address, dexName, family, kind }) => [chainId, address, dexName, family, kind]),
    );
    expect(rows.filter(([, , , family]) => family !== "dexb")).to.include.deep.members(REGISTRY);
    for (const { factories } of loadDeployments(undefined)) {
      for (const { family, kind } of factories) {
        if (kind === "slipstream") expect(family).to.equal("dexa");
        if (kind === "pancake-v3") expect(family).to.equal("clones");
      }
    }
  });

  it("reads a file in its place, addresses in any case, and leaves other services' sections alone", async () => {
    const [chain, ...others] = await load({ evmDex: { chains: [CHAIN] }, lending: { whatever: true } });
    expect(others).to.deep.equal([]);
    expect(chain).to.deep.equal({
      ...CHAIN,
      stablecoins: ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"],
      feeds: [],
      factories: [{ ...FACTORY, address: "0x33128a8fc17869897dce68ed026d694621f6fdfd" }],
    });
  });

  it("reads which stablecoins have a feed", async () => {
    const usdc = { address: CHAIN.stablecoins[0], feed: `0x${"Fe".repeat(20)}` };
    const [chain] = await loadChains({ ...CHAIN, stablecoins: [`0x${"Da".repeat(20)}`, usdc] });
    const token = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    expect(chain?.stablecoins).to.deep.equal([`0x${"da".repeat(20)}`, token]);
    expect(chain?.feeds).to.deep.equal([{ token, proxy: `0x${"fe".repeat(20)}` }]);
  });

  it("has Chainlink's feeds of USDC, USDT and DAI on both chains", () => {
    const feeds = loadDeployments(undefined).map(({ feeds = [] }) => feeds.map(({ proxy }) => proxy));
    expect(feeds).to.deep.equal([
      [
        "0x8fffffd4afb6115b954bd326cbe7b4ba576818f6",
        "0x3e7d1eab13ad0104d2750b8863b489d65364e32d",
        "0xaed0c38402a5d19df6e4c03f4e2dced6e29c1ee9",
      ],
      [
        "0x7e860098f58bbfc8648a4311b374b1d669a2bc6b",
        "0x591e79239a7d679378ec8c847e5038150364c78f",
        "0xf19d560eb8d2adf07bd6d13ed03e1d11215721f9",
      ],
    ]);
  });

  it("reads who makes a factory's gauges and what they pay", async () => {
    const rewards = { voter: `0x${"Ab".repeat(20)}`, token: `0x${"Cd".repeat(20)}` };
    const [chain] = await loadChains({ ...CHAIN, factories: [{ ...FACTORY, rewards }] });
    expect(chain?.factories[0]?.rewards).to.deep.equal({
      voter: `0x${"ab".repeat(20)}`,
      token: `0x${"cd".repeat(20)}`,
    });
  });

  const faults: readonly [string, unknown, string][] = [
    [
      "a voter without the token it pays",
      {
        evmDex: { chains: [{ ...CHAIN, factories: [{ ...FACTORY, rewards: { voter: FACTORY?.address } }] }] },
      },
      "rewards.token",
    ],
    ["no section of anybody", {}, "evmDex"],
    ["no list of chains", { evmDex: { chains: {} } }, "evmDex.chains"],
    [
      "no list of factories",
      { evmDex: { chains: [{ ...CHAIN, factories: {} }] } },
      "evmDex.chains[0].factories",
    ],
    [
      "no stablecoin",
      { evmDex: { chains: [{ ...CHAIN, stablecoins: [] }] } },
      "evmDex.chains[0].stablecoins",
    ],
    [
      "a short address",
      { evmDex: { chains: [{ ...CHAIN, stablecoins: ["0x12"] }] } },
      "evmDex.chains[0].stablecoins[0]",
    ],
    [
      "a stablecoin whose feed is no address",
      {
        evmDex: {
          chains: [{ ...CHAIN, stablecoins: [{ address: CHAIN.stablecoins[0], feed: "USDC / USD" }] }],
        },
      },
      "evmDex.chains[0].stablecoins[0].feed",
    ],
    ["a field without use", { evmDex: { chains: [{ ...CHAIN, rpc: "x" }] } }, "rpc"],
    [
      "a chain id that is a text",
      { evmDex: { chains: [CHAIN, { ...CHAIN, chainId: "1" }] } },
      "evmDex.chains[1].chainId",
    ],
    [
      "an unknown family",
      { evmDex: { chains: [{ ...CHAIN, factories: [{ ...FACTORY, family: "dexz" }] }] } },
      "evmDex.chains[0].factories[0].family",
    ],
    [
      "a negative block",
      { evmDex: { chains: [{ ...CHAIN, factories: [{ ...FACTORY, fromBlock: -1 }] }] } },
      "evmDex.chains[0].factories[0].fromBlock",
    ],
  ];
  for (const [name, content, field] of faults) {
    it(`refuses ${name}, naming file and field`, async () => {
      const error = await load(content).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(Error);
      expect((error as Error).message)
        .to.contain(join(directory, "deployments.json"))
        .and.contain(field);
    });
  }

  it("names a file that is not there", () => {
    expect(() => loadDeployments(join(directory, "none.json"))).to.throw(join(directory, "none.json"));
  });

  it("names a file that is no JSON", async () => {
    const path = join(directory, "broken.json");
    await writeFile(path, '{"evmDex": {');
    expect(() => loadDeployments(path)).to.throw(`Cannot read deployments from ${path}: `);
  });

  it("reads several chains in their order", async () => {
    const chains = await loadChains(CHAIN, { ...CHAIN, chainId: 1, name: "Ethereum" });
    expect(chains.map(({ chainId }) => chainId)).to.deep.equal([8453, 1]);
  });
});

describe("dexTypeOf", () => {
  it("calls Uniswap v3's pools v3", () => {
    const [base] = loadDeployments(undefined);
    expect(base?.factories.map((factory: Factory) => dexTypeOf(factory))).to.include("v3");
  });
});
