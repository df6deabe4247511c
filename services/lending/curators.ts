import { readFileSync } from "node:fs";
import { z } from "zod";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase());

/** By chain id. */
const addressesByChain = z.record(z.string().regex(/^[1-9]\d*$/), z.array(address).min(1));

const file = z.strictObject({
  curators: z.array(
    z.strictObject({
      name: z.string().min(1),
      verified: z.boolean(),
      /** The page that names the curator's addresses, and the day it was read. */
      source: z.url({ protocol: /^https$/ }),
      date: z.iso.date().optional(),
      addresses: addressesByChain,
      /** Vaults that the source attributes to the curator, whatever they say of themselves. */
      vaults: addressesByChain.optional(),
    }),
  ),
});

export type CuratorEntry = z.output<typeof file>["curators"][number];

interface Names {
  /** By address. */
  readonly curators: Map<string, CuratorEntry>;
  /** By vault. */
  readonly vaults: Map<string, { readonly entry: CuratorEntry; readonly accounts: readonly string[] }>;
}

/** Names of curators by address, and the curators of vaults that a public list attributes to one. */
export class CuratorRegistry {
  readonly #chains = new Map<number, Names>();

  /**
   * Where two sources name an address, or attribute a vault, the first one counts. Throws an Error for one that a single
   * source has twice, and for vaults of a curator without an address on their chain.
   */
  constructor(entries: readonly CuratorEntry[]) {
    for (const entry of entries) {
      this.#addAccounts(entry);
      this.#addVaults(entry);
    }
  }

  #addAccounts(entry: CuratorEntry): void {
    for (const [chainId, accounts] of Object.entries(entry.addresses)) {
      const { curators } = this.#namesOn(Number(chainId));
      for (const account of accounts) {
        const known = curators.get(account);
        requireOtherSource(known, entry, `${account} of chain ${chainId}`);
        if (known === undefined) curators.set(account, entry);
      }
    }
  }

  #addVaults(entry: CuratorEntry): void {
    for (const [chainId, list] of Object.entries(entry.vaults ?? {})) {
      const accounts = entry.addresses[chainId];
      if (accounts === undefined)
        throw new Error(`${entry.name} has vaults on chain ${chainId}, but no address`);
      const { vaults } = this.#namesOn(Number(chainId));
      for (const vault of list) {
        const known = vaults.get(vault);
        requireOtherSource(known?.entry, entry, `${vault} of chain ${chainId}`);
        if (known === undefined) vaults.set(vault, { entry, accounts });
      }
    }
  }

  #namesOn(chainId: number): Names {
    let names = this.#chains.get(chainId);
    if (names === undefined) {
      names = { curators: new Map(), vaults: new Map() };
      this.#chains.set(chainId, names);
    }
    return names;
  }

  /** The curator's name; the address of an unlisted one. */
  nameOf(chainId: number, account: string): string {
    return this.#chains.get(chainId)?.curators.get(account)?.name ?? account;
  }

  isVerified(chainId: number, account: string): boolean {
    return this.#chains.get(chainId)?.curators.get(account)?.verified ?? false;
  }

  /**
   * The account of the curator that a public list attributes a vault to: the account that the vault itself names where it
   * is one of the curator's, else the curator's first; undefined where no list has the vault.
   */
  curatorOf(chainId: number, { vault, claimed }: { vault: string; claimed: string }): string | undefined {
    const accounts = this.#chains.get(chainId)?.vaults.get(vault)?.accounts;
    return accounts?.includes(claimed) ? claimed : accounts?.[0];
  }
}

function requireOtherSource(known: CuratorEntry | undefined, entry: CuratorEntry, what: string): void {
  if (known !== undefined && known.source === entry.source)
    throw new Error(`${what} is listed twice, for ${known.name} and for ${entry.name}`);
}

/** Parses the text of a registry file. Throws an Error that names the fault. */
export function parseCurators(text: string): readonly CuratorEntry[] {
  const parsed = file.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data.curators;
}

/** Loads the registry from `path` or the built-in one. Throws an Error that names the file and the fault. */
export function loadCurators(path: string | undefined): CuratorRegistry {
  const where = path ?? "the built-in registry";
  try {
    return new CuratorRegistry(
      parseCurators(readFileSync(path ?? new URL("./curators.json", import.meta.url), "utf8")),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read curators from ${where}: ${reason}`, { cause });
  }
}
