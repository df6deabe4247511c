import { readFileSync } from "node:fs";
import { z } from "zod";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase());

const file = z.strictObject({
  curators: z.array(
    z.strictObject({
      name: z.string().min(1),
      verified: z.boolean(),
      /** The page that names the curator's addresses. */
      source: z.url({ protocol: /^https$/ }),
      /** By chain id. */
      addresses: z.record(z.string().regex(/^[1-9]\d*$/), z.array(address).min(1)),
    }),
  ),
});

interface Curator {
  readonly name: string;
  readonly verified: boolean;
}

/** Names of curators by address. */
export class CuratorRegistry {
  readonly #chains = new Map<number, Map<string, Curator>>();

  /** Throws an Error for an address that is listed twice. */
  constructor(curators: z.output<typeof file>["curators"]) {
    for (const { name, verified, addresses } of curators) {
      for (const [chainId, list] of Object.entries(addresses)) {
        for (const each of list) this.#add(Number(chainId), each, { name, verified });
      }
    }
  }

  #add(chainId: number, address: string, curator: Curator): void {
    let chain = this.#chains.get(chainId);
    if (chain === undefined) {
      chain = new Map();
      this.#chains.set(chainId, chain);
    }
    const other = chain.get(address);
    if (other !== undefined) {
      throw new Error(
        `${address} of chain ${chainId} is listed twice, for ${other.name} and for ${curator.name}`,
      );
    }
    chain.set(address, curator);
  }

  /** The curator's name; the address of an unlisted one. */
  nameOf(chainId: number, address: string): string {
    return this.#chains.get(chainId)?.get(address)?.name ?? address;
  }

  isVerified(chainId: number, address: string): boolean {
    return this.#chains.get(chainId)?.get(address)?.verified ?? false;
  }
}

/** Loads the registry from `path` or the built-in one. Throws an Error that names the file and the fault. */
export function loadCurators(path: string | undefined): CuratorRegistry {
  const where = path ?? "the built-in registry";
  try {
    const text = readFileSync(path ?? new URL("./curators.json", import.meta.url), "utf8");
    const parsed = file.safeParse(JSON.parse(text));
    if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
    return new CuratorRegistry(parsed.data.curators);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read curators from ${where}: ${reason}`, { cause });
  }
}
