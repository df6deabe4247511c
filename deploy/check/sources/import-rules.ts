import { join } from "node:path";
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from "dependency-cruiser";
import extractDepcruiseConfig from "dependency-cruiser/config-utl/extract-depcruise-config";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

/** The top-level folders with source code, which the rules separate. */
export const SOURCE_FOLDERS: readonly string[] = [
  "gateway",
  "services",
  "proto",
  "deploy",
  "bench",
  "clients",
];

export interface Breach {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface ImportReport {
  readonly breaches: readonly Breach[];
  /** Project files read. Nothing read means nothing checked, which is a failure and not a success. */
  readonly modules: number;
  readonly dependencies: number;
}

/**
 * Reads every import below `root` and holds it against .dependency-cruiser.mjs.
 *
 * @param root folder that holds them; the rules come from `repository` (the repository), also for a temporary tree.
 */
export async function inspectImports(root: string, repository: string = root): Promise<ImportReport> {
  const config = await extractDepcruiseConfig(join(repository, ".dependency-cruiser.mjs"));
  const { forbidden, options } = config as Required<Pick<IFlattenedRuleSet, "forbidden">> & {
    options: Record<string, unknown>;
  };
  const { tsConfig: _, enhancedResolveOptions, ...rest } = options;
  const cruised = await cruise(
    [...SOURCE_FOLDERS],
    { ...rest, baseDir: root, validate: true, ruleSet: { forbidden } },
    enhancedResolveOptions as Record<string, unknown>,
    { tsConfig: extractTSConfig(join(repository, "tsconfig.json")) },
  );
  if (typeof cruised.output === "string") throw new Error(`Cannot read the imports: ${cruised.output}`);
  return summarise(cruised.output);
}

function summarise({ modules, summary }: ICruiseResult): ImportReport {
  const own = modules.filter(({ source }) =>
    SOURCE_FOLDERS.some((folder) => source.startsWith(`${folder}/`)),
  );
  return {
    breaches: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
    modules: own.length,
    dependencies: own.reduce((sum, { dependencies }) => sum + dependencies.length, 0),
  };
}
