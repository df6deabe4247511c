import type { CuratorEntry } from "../curators.ts";
import type { EulerEntities, EulerProducts, Exports, MorphoCurators, MorphoVaults } from "./exports.ts";

const MORPHO = "https://github.com/morpho-org/morpho-blue-api-metadata/blob/main/data";
const EULER = "https://github.com/euler-xyz/euler-labels/blob/master";
export const MORPHO_CURATORS = `${MORPHO}/curators-listing.json`;
export const MORPHO_VAULTS = `${MORPHO}/vaults-listing.json`;

/** The chains that lending is served of; lists have more. */
const CHAINS = ["1", "8453"];

/**
 * The registry's entries with those of every exported list replaced: Morpho's come first, since the first entry names an
 * address.
 */
export function updateCurators(
  entries: readonly CuratorEntry[],
  { exports, date }: { exports: Exports; date: string },
): CuratorEntry[] {
  const fresh = [
    ...(exports.morphoCurators ? morphoEntries(exports.morphoCurators, date) : []),
    ...CHAINS.flatMap((chainId) => {
      const [entities, products] = [exports.entities[chainId], exports.products[chainId]];
      return entities && products ? eulerEntries(chainId, { entities, products, date }) : [];
    }),
  ];
  const replaced = new Set(fresh.map(({ source }) => source));
  const all = [...fresh, ...entries.filter(({ source }) => !replaced.has(source))];
  return all.sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ source }: CuratorEntry): number {
  if (source === MORPHO_CURATORS) return 0;
  return source.startsWith(EULER) ? 1 + CHAINS.findIndex((chainId) => source.includes(`/${chainId}/`)) : 9;
}

/** An address that the list has under several names is their joint one. */
function morphoEntries(curators: MorphoCurators, date: string): CuratorEntry[] {
  const byName = new Map<string, { verified: boolean; addresses: Record<string, string[]> }>();
  for (const chainId of CHAINS) {
    const names = new Map<string, { account: string; name: string[]; verified: boolean }>();
    for (const { name, verified, addresses } of curators) {
      for (const account of addresses[chainId] ?? []) {
        const known = names.get(account.toLowerCase());
        names.set(account.toLowerCase(), {
          account,
          name: [...(known?.name ?? []), name],
          verified: verified && (known?.verified ?? true),
        });
      }
    }
    for (const { account, name, verified } of names.values()) {
      const joint = name.join(" / ");
      const entry = byName.get(joint) ?? { verified, addresses: {} };
      entry.addresses[chainId] = [...(entry.addresses[chainId] ?? []), account];
      byName.set(joint, entry);
    }
  }
  return [...byName].map(([name, entry]) => ({ name, ...entry, source: MORPHO_CURATORS, date }));
}

/** A product of several entities is the first one's: a vault has one curator. */
function eulerEntries(
  chainId: string,
  { entities, products, date }: { entities: EulerEntities; products: EulerProducts; date: string },
): CuratorEntry[] {
  const source = `${EULER}/${chainId}/entities.json`;
  return Object.entries(entities).flatMap(([id, { name, addresses }]) => {
    const accounts = Object.keys(addresses);
    const vaults = Object.values(products)
      .filter(({ entity }) => [entity].flat()[0] === id)
      .flatMap((product) => product.vaults);
    if (accounts.length === 0) return [];
    return [
      {
        ...{ name, verified: true, source, date },
        addresses: { [chainId]: accounts },
        ...(vaults.length > 0 && { vaults: { [chainId]: vaults } }),
      },
    ];
  });
}

/** The vaults of a chain that Morpho lists: those whose last action was to be added. */
export function listedVaults(vaults: MorphoVaults, chainId: number): string[] {
  return vaults
    .filter((vault) => vault.chainId === chainId && lastAction(vault) === "added")
    .map(({ address }) => address.toLowerCase())
    .sort();
}

function lastAction({ history }: MorphoVaults[number]): "added" | "removed" {
  const [last] = [...history].sort((a, b) => b.timestamp - a.timestamp);
  return last?.action ?? "removed";
}

/** A deployments document with Morpho's listing of each of its chains. */
export function updateDeployments<D>(
  document: D,
  { vaults, date }: { vaults: MorphoVaults; date: string },
): D {
  const updated = structuredClone(document);
  const { lending } = updated as { lending?: { chains: { chainId: number; protocols: Protocols }[] } };
  for (const { chainId, protocols } of lending?.chains ?? []) {
    const morpho = protocols["morpho-v1"];
    if (morpho) morpho.listing = { source: MORPHO_VAULTS, date, vaults: listedVaults(vaults, chainId) };
  }
  return updated;
}

type Protocols = Record<string, Record<string, unknown>>;
