import { createRequire } from "node:module";
import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, type AbiEvent, type AbiFunction, toEventSelector, toFunctionSelector } from "viem";
import { metaMorphoAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import { lossKeepingVault, vaultFactory } from "../contracts/morpho/artifacts.ts";

function genuine(path: string): Abi {
  const file = `@morpho-org/morpho-blue-bundlers/types/factories/lib/${path}__factory.js`;
  const module = createRequire(import.meta.url)(file) as Record<string, { abi: Abi }>;
  return Object.values(module).flatMap(({ abi }) => abi);
}

const isEvent = (item: Abi[number]): item is AbiEvent => item.type === "event";
const isFunction = (item: Abi[number]): item is AbiFunction => item.type === "function";
/** Selector, and which fields are indexed. */
const eventShape = (event: AbiEvent) =>
  `${event.name} ${toEventSelector(event)} ${event.inputs.map(({ indexed }) => Number(indexed ?? false)).join("")}`;
const eventsOf = (abi: Abi) => abi.filter(isEvent).map(eventShape);
const functionsOf = (abi: Abi) =>
  abi.filter(isFunction).map((item) => `${item.name} ${toFunctionSelector(item)} ${item.stateMutability}`);

/** As the originals of v1.1 emit them. */
const ONLY_V11 = ["UpdateLostAssets", "SetName", "SetSymbol"];

describe("devnet: Morpho's interface", () => {
  const events = eventsOf(genuine("morpho-blue/src/libraries/EventsLib"));
  const vaultEvents = [
    ...eventsOf(genuine("metamorpho/src/libraries/EventsLib")),
    ...eventsOf(genuine("metamorpho/src/MetaMorpho")),
  ];

  it("declares events and functions as the genuine contracts have them", () => {
    expect(events).to.include.members(eventsOf(morphoAbi));
    const ofV10 = metaMorphoAbi.filter((item) => !("name" in item && ONLY_V11.includes(item.name)));
    expect(vaultEvents).to.include.members(eventsOf(ofV10));
    expect(functionsOf(genuine("morpho-blue/src/Morpho")).length).to.be.above(20);
    expect(functionsOf(genuine("metamorpho/src/MetaMorpho"))).to.include.members(functionsOf(ofV10));
    // The contract itself is compiled with flat getters: what they answer is the same.
    expect(functionsOf(genuine("morpho-blue/src/interfaces/IMorpho.sol/IMorpho"))).to.include.members(
      functionsOf(morphoAbi),
    );
  });

  it("announces vaults with the genuine event, and its vault of v1.1 emits and answers as one", () => {
    expect(vaultEvents).to.include.members(eventsOf(vaultFactory.abi));
    const known = [...vaultEvents, ...eventsOf(metaMorphoAbi)];
    expect(known).to.include.members(eventsOf(lossKeepingVault.abi));
    const own = functionsOf(lossKeepingVault.abi);
    const views = (abi: Abi) =>
      functionsOf(abi.filter((item) => isFunction(item) && item.stateMutability === "view"));
    expect(own).to.include.members(views(metaMorphoAbi));
  });
});
