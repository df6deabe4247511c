import { basename, dirname } from "node:path";
import { z } from "zod";

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address");
const byChain = z.record(z.string(), z.array(address));

/** Each list as its repository publishes it: only the fields that are used, others may come and go. */
const morphoCurators = z.array(
  z.object({ name: z.string().min(1), verified: z.boolean(), addresses: byChain }),
);
const morphoVaults = z.array(
  z.object({
    address,
    chainId: z.int(),
    history: z.array(z.object({ action: z.enum(["added", "removed"]), timestamp: z.int() })).min(1),
  }),
);
const eulerEntities = z.record(
  z.string(),
  z.object({ name: z.string().min(1), addresses: z.record(address, z.string()).default({}) }),
);
const eulerProducts = z.record(
  z.string(),
  z.object({ entity: z.union([z.string(), z.array(z.string()).min(1)]), vaults: z.array(address) }),
);

export type MorphoCurators = z.output<typeof morphoCurators>;
export type MorphoVaults = z.output<typeof morphoVaults>;
export type EulerEntities = z.output<typeof eulerEntities>;
export type EulerProducts = z.output<typeof eulerProducts>;

/** The lists of one or more exports. */
export interface Exports {
  readonly morphoCurators?: MorphoCurators;
  readonly morphoVaults?: MorphoVaults;
  /** By chain id. */
  readonly entities: Readonly<Record<string, EulerEntities>>;
  readonly products: Readonly<Record<string, EulerProducts>>;
}

/** An export is none of the lists that are known, or not whole. */
export class BadExport extends Error {
  override readonly name = "BadExport";
}

/** Tells the lists apart by their content. Throws BadExport with the file's name and the fault. */
export function readExports(files: readonly { path: string; text: string }[]): Exports {
  const found: {
    morphoCurators?: MorphoCurators;
    morphoVaults?: MorphoVaults;
    entities: Record<string, EulerEntities>;
    products: Record<string, EulerProducts>;
  } = { entities: {}, products: {} };
  for (const { path, text } of files) {
    const content = parseJson(path, text);
    if (Array.isArray(content)) {
      const isVaults = content.some((item) => typeof item === "object" && item !== null && "history" in item);
      if (isVaults) found.morphoVaults = checked(morphoVaults, { path, content });
      else found.morphoCurators = checked(morphoCurators, { path, content });
      continue;
    }
    const chainId = basename(dirname(path));
    if (!/^[1-9]\d*$/.test(chainId))
      throw new BadExport(`Cannot read ${path}: its folder does not name a chain, as 1/entities.json does.`);
    const items = Object.values((content ?? {}) as object);
    if (items.some((item) => "entity" in Object(item)))
      found.products[chainId] = checked(eulerProducts, { path, content });
    else found.entities[chainId] = checked(eulerEntities, { path, content });
  }
  for (const chainId of new Set([...Object.keys(found.entities), ...Object.keys(found.products)])) {
    if (found.entities[chainId] === undefined || found.products[chainId] === undefined)
      throw new BadExport(`Chain ${chainId} needs its entities.json and its products.json.`);
  }
  return found;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadExport(`Cannot read ${path}: ${(error as Error).message}`);
  }
}

function checked<T>(schema: z.ZodType<T>, { path, content }: { path: string; content: unknown }): T {
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw new BadExport(`Cannot read ${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
