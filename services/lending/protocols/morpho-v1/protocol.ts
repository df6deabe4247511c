import type { Hex } from "../../../shared/evm/port.ts";
import type { LendingProtocol } from "../protocol.ts";
import { affectedMorphoEntities, MORPHO_TOPICS } from "./affected-entities.ts";
import { type MorphoDeployment, parseDeployment } from "./deployment.ts";
import { FACTORY_EVENTS, MORPHO_EVENTS } from "./events.ts";
import { readMarket } from "./read-market.ts";
import { readVault } from "./read-vault.ts";
import { morphoRows } from "./rows.ts";
import { CREATION, MARKET, type MarketState, VAULT, type VaultState, ZERO_ADDRESS } from "./state.ts";

/** Morpho Blue's markets, and the MetaMorpho vaults (v1.0 and v1.1) that allocate deposits to them. */
export const morphoV1: LendingProtocol<MorphoDeployment> = {
  id: "morpho-v1",
  kinds: [VAULT, MARKET, CREATION],
  topics: MORPHO_TOPICS,
  parseDeployment,
  roots: () => [],
  scans: ({ morpho, fromBlock, vaultFactories }) => [
    { name: "morpho-v1 markets", addresses: [morpho], topics: [MORPHO_EVENTS.CreateMarket], fromBlock },
    ...vaultFactories.map((factory) => ({
      name: `morpho-v1 vaults and creators of ${factory.address}`,
      addresses: [factory.address],
      topics: [FACTORY_EVENTS.CreateMetaMorpho],
      fromBlock: factory.fromBlock,
    })),
  ],
  affectedEntities: affectedMorphoEntities,
  // A model other than AdaptiveCurveIrm may change its mind at any block; Morpho's owner admits each model.
  volatile: {
    [MARKET]: (state) => {
      const { params, rateAtTarget } = state as MarketState;
      return rateAtTarget === null && params.irm !== ZERO_ADDRESS;
    },
  },
  // The states of a kind are written by its own reader alone.
  async read({ kind, id }, { reader, previous, deployment }) {
    if (kind === VAULT)
      return readVault(id as Hex, { reader, previous: previous as VaultState | undefined, deployment });
    if (kind === MARKET)
      return readMarket(id as Hex, { reader, previous: previous as MarketState | undefined, deployment });
    // Of a creation, that it happened is all there is.
    return { state: true };
  },
  entitiesOf: ({ id }, { entities }) => [
    { kind: MARKET, id },
    { kind: VAULT, id },
    ...(entities.get<VaultState>(VAULT, id)?.state.markets ?? []).map((each) => ({
      kind: MARKET,
      id: each.id,
    })),
  ],
  rows: morphoRows,
};
