import { readTopicAddress } from "../../../shared/evm/abi.ts";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { KnownUnits, UnitRef } from "../protocol.ts";
import type { MorphoDeployment } from "./deployment.ts";
import { FACTORY_EVENTS, MORPHO_EVENTS, VAULT_EVENTS } from "./events.ts";
import { marketRef, VAULT, vaultRef } from "./state.ts";

const ofMorpho: ReadonlySet<Hex> = new Set(Object.values(MORPHO_EVENTS));
const ofVault: ReadonlySet<Hex> = new Set(Object.values(VAULT_EVENTS));

export const TOPICS: readonly Hex[] = [
  ...new Set([...ofMorpho, ...Object.values(FACTORY_EVENTS), ...ofVault]),
];

/** The market, and the vault, that a log creates or changes. */
export function hear(
  log: RawLog,
  { known, deployment }: { known: KnownUnits; deployment: MorphoDeployment },
): readonly UnitRef[] {
  const [topic] = log.topics;
  if (topic === undefined) return [];
  if (log.address === deployment.morpho) return ofMorpho.has(topic) ? hearMorpho(log, known) : [];
  if (topic === FACTORY_EVENTS.CreateMetaMorpho) {
    const isOurs = deployment.vaultFactories.some(({ address }) => address === log.address);
    return isOurs ? [vaultRef(readTopicAddress(log.topics[1]))] : [];
  }
  return ofVault.has(topic) && known.has(VAULT, log.address) ? [vaultRef(log.address)] : [];
}

/** Every event of Morpho names its market first. Whose shares Supply and Withdraw change is another of their topics. */
function hearMorpho(log: RawLog, known: KnownUnits): UnitRef[] {
  const [topic, id, ...others] = log.topics;
  const market = marketRef(id as Hex);
  if (topic !== MORPHO_EVENTS.Supply && topic !== MORPHO_EVENTS.Withdraw) return [market];
  const owner = readTopicAddress(topic === MORPHO_EVENTS.Supply ? others[1] : others[0]);
  return known.has(VAULT, owner) ? [market, vaultRef(owner)] : [market];
}
