import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build as bundle, type Plugin } from "esbuild";
import { ROOT } from "./command.ts";

/** Where production keeps files that are read at run time: data, protobuf files, scripts. */
const DATA_FOLDERS = ["gateway", "services", "proto"];
const CODE_FOLDERS = ["gateway", "services"];
/** What operators run beside the services, of folders that production otherwise does not need. */
const OPERATOR_PROGRAMS = ["deploy/reindex/main.ts", "deploy/backup/main.ts", "deploy/doctor/main.ts"];
const OF_TESTS = /\/(bench|suite|test|testkit)\//;
const NOT_DATA = /\.(ts|md|sol)$/;
/** One flat folder for all bundled code: a relative path has the same depth wherever the source was. */
const BUNDLE = "bundle";
/**
 * Packages that every process loads at its start, made part of the bundle: together with our own few hundred files
 * they took half of the time until the first line of a process's own work. All others are read from node_modules.
 */
const BUNDLED = ["@noble/hashes", "pino", "prom-client"];

/**
 * Makes dist/: a few files of JavaScript for all processes of gateway and services, each started by a file at the place
 * of its source, and the files they read at run time at their places, so that `node dist/gateway/main.js` runs with
 * production dependencies only. Types are not looked at. Returns every fault in words.
 */
export async function build(
  outDir: string = join(ROOT, "dist"),
  { root = ROOT, programs = [] }: { readonly root?: string; readonly programs?: readonly string[] } = {},
): Promise<string[]> {
  rmSync(outDir, { recursive: true, force: true });
  const entries = [...listEntries(root), ...programs];
  const { errors } = await bundle({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((path) => [nameOf(path), path])),
    outdir: join(outDir, BUNDLE),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    plugins: [leavePackages, keepPlaces(root)],
    banner: { js: REQUIRE },
    logLevel: "silent",
  }).catch((error: { errors?: readonly { text: string }[] }) => ({
    errors: error.errors ?? [{ text: String(error) }],
  }));
  if (errors.length > 0) return errors.map(({ text }) => text);
  for (const path of entries) {
    const file = join(outDir, path.replace(/\.ts$/, ".js"));
    const bundled = relative(dirname(file), join(outDir, BUNDLE, `${nameOf(path)}.js`));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `import "${bundled}";\n`);
  }
  for (const path of listDataFiles(root)) cpSync(join(root, path), join(outDir, path));
  return [];
}

/** Where the programs that tests start are built, relative to the repository: see services/shared/testkit/process.ts. */
export const TEST_DIST = ".cache/test-dist";
/** Programs outside of production that tests start by the dozen. */
const TEST_PROGRAMS = [
  "deploy/devnet/main.ts",
  "deploy/devnet/portal/main.ts",
  "deploy/devnet/solana/main.ts",
  "deploy/export/main.ts",
  "deploy/pay/main.ts",
];

/** Builds all that tests start: the same, with the programs of test folders (`*.main.ts`) and of the devnet. */
export function buildForTests(): Promise<string[]> {
  const fixtures = listFiles(ROOT, ["services"]).filter((path) => /\/test\/[^/]+\.main\.ts$/.test(path));
  return build(join(ROOT, TEST_DIST), { programs: [...TEST_PROGRAMS, ...fixtures] });
}

/** What packages in CommonJS call for Node's own modules. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

const leavePackages: Plugin = {
  name: "leave packages",
  setup: (on) =>
    on.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
      const isOurs = !importer.includes("node_modules");
      const isBundled = BUNDLED.some((name) => path === name || path.startsWith(`${name}/`));
      return isOurs && !isBundled ? { path, external: true } : undefined;
    }),
};

/** Code that looks for a file beside its own finds it: there import.meta.url is the place where the file would be unbundled. */
const keepPlaces = (root: string): Plugin => ({
  name: "keep places",
  setup: (on) =>
    on.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const place = `../${relative(root, path).replace(/\.ts$/, ".js")}`;
      const contents = source.replaceAll("import.meta.url", `new URL("${place}", import.meta.url).href`);
      return { contents, loader: "ts" };
    }),
});

/** services/evm-dex/main.ts as services_evm-dex_main. */
function nameOf(path: string): string {
  return path.replace(/\.ts$/, "").replaceAll("/", "_");
}

/** What is started by itself: the programs that package.json names, and the threads of any. Paths relative to `root`. */
export function listEntries(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const programs = Object.values(scripts).flatMap(
    (script) => /^(?:exec )?node (?:-r \S+ )?--import tsx (\S+\.ts)(?: \w+)?$/.exec(script)?.[1] ?? [],
  );
  const files = [...listFiles(root, CODE_FOLDERS), ...OPERATOR_PROGRAMS];
  const isEntry = (path: string) =>
    programs.includes(path) && !path.endsWith(".bench.ts") && !OF_TESTS.test(path);
  return files.filter((path) => isEntry(path) || path.endsWith(".worker.ts")).sort();
}

/** Files other than source code that production may read, by path relative to `root`. */
export function listDataFiles(root: string): string[] {
  const ofOperators = listFiles(root, ["deploy"]).filter((path) =>
    OPERATOR_PROGRAMS.some((program) => dirname(program) === dirname(path)),
  );
  return [...listFiles(root, DATA_FOLDERS), ...ofOperators].filter(
    (path) => !NOT_DATA.test(path) && !OF_TESTS.test(path),
  );
}

function listFiles(root: string, folders: readonly string[]): string[] {
  return readdirSync(root)
    .filter((folder) => folders.includes(folder))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
