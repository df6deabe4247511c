import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, encodeEventTopics } from "viem";
import { metaMorphoAbi, morphoAbi } from "../../../../deploy/devnet/contracts/morpho/abi.ts";
import { vaultFactory } from "../../../../deploy/devnet/contracts/morpho/artifacts.ts";
import { loadDeployments } from "../../deployments.ts";
import { MORPHO_TOPICS } from "./affected-entities.ts";
import { type MorphoDeployment, parseDeployment } from "./deployment.ts";
import { FACTORY_EVENTS, MORPHO_EVENTS, VAULT_EVENTS } from "./events.ts";
import { morphoV1 } from "./protocol.ts";

const ADDRESS = "0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb";
const SECTION = {
  morpho: ADDRESS,
  fromBlock: 1,
  adaptiveCurveIrms: [ADDRESS],
  vaultFactories: [{ address: ADDRESS, fromBlock: 2 }],
};

describe("Morpho: events", () => {
  for (const [abi, events] of [
    [morphoAbi, MORPHO_EVENTS],
    [vaultFactory.abi, FACTORY_EVENTS],
    [metaMorphoAbi, VAULT_EVENTS],
  ] as const) {
    for (const [eventName, topic] of Object.entries(events))
      it(`${eventName} has the topic of its signature`, () => {
        expect(encodeEventTopics({ abi: abi as Abi, eventName })[0]).to.equal(topic);
      });
  }

  it("are requested once each, without those of every token", () => {
    expect(new Set(MORPHO_TOPICS).size).to.equal(MORPHO_TOPICS.length);
    const generic = [
      "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
      "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
      "0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7",
      "0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db",
    ];
    for (const topic of generic) expect(MORPHO_TOPICS).to.not.include(topic);
  });
});

describe("Morpho: deployments", () => {
  it("are there for Ethereum and Base, with factories of both versions", () => {
    for (const chainId of [1, 8453]) {
      const chain = loadDeployments(undefined).find((each) => each.chainId === chainId);
      const found = chain?.protocols.find(({ protocol }) => protocol === morphoV1);
      const deployment = found?.deployment as MorphoDeployment;
      expect(deployment.morpho).to.equal(ADDRESS.toLowerCase());
      expect(deployment.adaptiveCurveIrms).to.have.length(1);
      expect(deployment.vaultFactories).to.have.length(2);
      const names = morphoV1.scans(deployment).map(({ name }) => name);
      expect(new Set(names).size).to.equal(3);
    }
  });

  it("take addresses in any case", () => {
    expect(parseDeployment(SECTION).vaultFactories[0]?.address).to.equal(ADDRESS.toLowerCase());
  });

  for (const [what, section, message] of [
    ["no address", { ...SECTION, morpho: "0x12" }, /is not an EVM address[\s\S]*morpho/],
    ["no block", { ...SECTION, fromBlock: -1 }, /fromBlock/],
    ["an unknown field", { ...SECTION, irm: ADDRESS }, /"irm"/],
    [
      "a factory twice",
      { ...SECTION, vaultFactories: [SECTION.vaultFactories[0], SECTION.vaultFactories[0]] },
      /vaultFactories names 0xbbbbb.* twice/,
    ],
  ] as const) {
    it(`name what is wrong with ${what}`, () => {
      expect(() => parseDeployment(section)).to.throw(message);
    });
  }
});
