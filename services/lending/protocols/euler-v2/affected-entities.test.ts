import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeEventTopics, pad, toFunctionSelector } from "viem";
import {
  eulerEarnAbi,
  eulerEarnFactoryAbi,
  eulerFactoryAbi,
  eulerPerspectiveAbi,
  eulerVaultAbi,
} from "../../../../deploy/devnet/contracts/euler/abi.ts";
import {
  eulerAggregationFactory,
  eulerAggregationVault,
} from "../../../../deploy/devnet/contracts/euler/more-artifacts.ts";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import {
  affectedEulerEntities,
  CREATE_EULER_EARN,
  EARN_TOPICS,
  EULER_TOPICS,
  EVK_TOPICS,
  PERSPECTIVE_TOPICS,
  PROXY_CREATED,
} from "./affected-entities.ts";
import { AGGREGATION_TOPICS, DEPLOY_EULER_EARN } from "./aggregation-events.ts";
import { SELECTORS } from "./calls.ts";

const [FACTORY, EARN_FACTORY, VAULT, EARN, STRANGER, LIST, OLD_FACTORY, OLD] = [1, 2, 3, 4, 5, 6, 7, 8].map(
  (n) => pad(`0x${n}`, { size: 20 }),
) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex, Hex];
const deployment = {
  eVaultFactory: FACTORY,
  eulerEarnFactories: [{ address: EARN_FACTORY, fromBlock: 0 }],
  aggregationFactories: [{ address: OLD_FACTORY, fromBlock: 0 }],
  perspectives: {
    ...{ source: "here", date: "2026-01-01" },
    ...{ governed: LIST, ungoverned: [], escrow: FACTORY, eulerEarn: EARN_FACTORY },
  },
};
const known = {
  has: (kind: string, id: string) =>
    [`evk-vault ${VAULT}`, `earn-vault ${EARN}`, `aggregation-vault ${OLD}`].includes(`${kind} ${id}`),
  state: () => undefined,
};

function log(address: Hex, ...topics: Hex[]): RawLog {
  const hash = pad("0x1");
  const place = { blockNumber: 1, blockHash: hash, transactionHash: hash, transactionIndex: 0, logIndex: 0 };
  return { address, topics, data: "0x", ...place };
}

const affectedBy = (received: RawLog) => affectedEulerEntities(received, { known, deployment });

describe("euler: what logs touch", () => {
  it("uses topics and selectors of the signatures", () => {
    const topicOf = (
      abi:
        | typeof eulerVaultAbi
        | typeof eulerEarnAbi
        | typeof eulerPerspectiveAbi
        | typeof eulerAggregationVault.abi,
      eventName: string,
    ) => encodeEventTopics({ abi, eventName } as never)[0];
    for (const [name, topic] of Object.entries(EVK_TOPICS))
      expect(topic, name).to.equal(topicOf(eulerVaultAbi, name));
    for (const [name, topic] of Object.entries(EARN_TOPICS))
      expect(topic, name).to.equal(topicOf(eulerEarnAbi, name));
    for (const [name, topic] of Object.entries(PERSPECTIVE_TOPICS))
      expect(topic, name).to.equal(topicOf(eulerPerspectiveAbi, name));
    for (const [name, topic] of Object.entries(AGGREGATION_TOPICS))
      expect(topic, name).to.equal(topicOf(eulerAggregationVault.abi, name));
    expect(DEPLOY_EULER_EARN).to.equal(
      encodeEventTopics({ abi: eulerAggregationFactory.abi, eventName: "DeployEulerEarn" })[0],
    );
    expect(PROXY_CREATED).to.equal(encodeEventTopics({ abi: eulerFactoryAbi, eventName: "ProxyCreated" })[0]);
    expect(CREATE_EULER_EARN).to.equal(
      encodeEventTopics({ abi: eulerEarnFactoryAbi, eventName: "CreateEulerEarn" })[0],
    );
    for (const [signature, selector] of Object.entries(SELECTORS))
      expect(selector, signature).to.equal(toFunctionSelector(signature));
    const topics = [EVK_TOPICS, EARN_TOPICS, AGGREGATION_TOPICS].flatMap((each) => Object.keys(each));
    expect(new Set(EULER_TOPICS).size).to.equal(5 + topics.length);
  });

  it("makes a new vault and its factory to be read", () => {
    expect(affectedBy(log(FACTORY, PROXY_CREATED, pad(STRANGER)))).to.deep.equal([
      { kind: "evk-factory", id: FACTORY },
      { kind: "evk-vault", id: STRANGER },
    ]);
    expect(affectedBy(log(EARN_FACTORY, CREATE_EULER_EARN, pad(STRANGER), pad(VAULT)))).to.deep.equal([
      { kind: "earn-vault", id: STRANGER },
      { kind: "earn-creation", id: `${STRANGER}:${VAULT}` },
    ]);
    const deployed = { topics: [DEPLOY_EULER_EARN, pad(VAULT), pad(LIST)], data: pad(STRANGER) };
    expect(affectedBy({ ...log(OLD_FACTORY), ...deployed })).to.deep.equal([
      { kind: "aggregation-vault", id: STRANGER },
      { kind: "earn-creation", id: `${STRANGER}:${VAULT}` },
    ]);
    expect(affectedBy({ ...log(EARN_FACTORY), ...deployed })).to.deep.equal([]);
    expect(affectedBy(log(EARN_FACTORY, PROXY_CREATED, pad(STRANGER)))).to.deep.equal([]);
    expect(affectedBy(log(STRANGER, PROXY_CREATED, pad(VAULT)))).to.deep.equal([]);
    expect(affectedBy(log(STRANGER, CREATE_EULER_EARN, pad(VAULT)))).to.deep.equal([]);
  });

  it("touches the vault that emits, if it is known as of that kind", () => {
    for (const [name, topic] of Object.entries(EVK_TOPICS)) {
      expect(affectedBy(log(VAULT, topic)), name).to.deep.equal([{ kind: "evk-vault", id: VAULT }]);
      expect(affectedBy(log(EARN, topic)), name).to.deep.equal([]);
      expect(affectedBy(log(STRANGER, topic)), name).to.deep.equal([]);
    }
    for (const [name, topic] of Object.entries(AGGREGATION_TOPICS)) {
      expect(affectedBy(log(OLD, topic)), name).to.deep.equal([{ kind: "aggregation-vault", id: OLD }]);
      expect(affectedBy(log(EARN, topic)), name).to.deep.equal([]);
    }
    for (const [name, topic] of Object.entries(EARN_TOPICS)) {
      expect(affectedBy(log(EARN, topic)), name).to.deep.equal([{ kind: "earn-vault", id: EARN }]);
      expect(affectedBy(log(VAULT, topic)), name).to.deep.equal([]);
      expect(affectedBy(log(STRANGER, topic)), name).to.deep.equal([]);
    }
  });

  it("reads a perspective again when its list changes, and ignores other contracts' lists", () => {
    for (const topic of Object.values(PERSPECTIVE_TOPICS)) {
      expect(affectedBy(log(LIST, topic, pad(VAULT)))).to.deep.equal([
        { kind: "euler-perspective", id: LIST },
      ]);
      expect(affectedBy(log(STRANGER, topic, pad(VAULT)))).to.deep.equal([]);
    }
  });

  it("ignores other logs", () => {
    expect(affectedBy(log(VAULT))).to.deep.equal([]);
    expect(affectedBy(log(VAULT, pad("0x7")))).to.deep.equal([]);
  });
});
