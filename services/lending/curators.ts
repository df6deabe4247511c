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
      /** Where name and addresses were found. */
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

/** Who curators are, by their addresses. */
export class CuratorRegistry {
  readonly #chains = new Map<number, Map<string, Curator>>();

  /** Throws an Error that names an address standing twice. */
  constructor(curators: z.output<typeof file>["curators"]) {
    for (const { name, verified, addresses } of curators) {
      for (const [chainId, list] of Object.entries(addresses)) {
        for (const each of list) this.#add(Number(chainId), each, { name, verified });
      }
    }
  }

  #add(chainId: number, curator: string, of: Curator): void {
    let chain = this.#chains.get(chainId);
    if (chain === undefined) {
      chain = new Map();
      this.#chains.set(chainId, chain);
    }
    const other = chain.get(curator);
    if (other !== undefined) {
      throw new Error(`${curator} of chain ${chainId} stands twice, for ${other.name} and for ${of.name}`);
    }
    chain.set(curator, of);
  }

  /** The curator's name; of one that is not listed its address. */
  nameOf(chainId: number, curator: string): string {
    return this.#chains.get(chainId)?.get(curator)?.name ?? curator;
  }

  isVerified(chainId: number, curator: string): boolean {
    return this.#chains.get(chainId)?.get(curator)?.verified ?? false;
  }
}

/** The registry in `path`, else the built-in one. Throws naming the file and what is wrong in it. */
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
