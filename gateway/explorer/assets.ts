import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** A file for browsers, by its path below the explorer's folder. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const BROWSER = new URL("./browser/", import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
};
const require = createRequire(import.meta.url);
/** The charts, as their package publishes them: loaded by the pages that draw some. */
const CHARTS = { "uplot.js": "uplot/dist/uPlot.esm.js", "uplot.css": "uplot/dist/uPlot.min.css" };

/** All that the page loads, besides the catalogue. */
export function readAssets(): Asset[] {
  const own = readdirSync(BROWSER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|css)$/.test(entry.name))
    .map(({ parentPath, name }) =>
      `${parentPath}/${name}`.slice(fileURLToPath(BROWSER).length).replace(/^\//, ""),
    );
  return [
    ...own.sort().map((path) => assetOf(path, readFileSync(new URL(path, BROWSER)))),
    ...Object.entries(CHARTS).map(([path, file]) => assetOf(path, readFileSync(require.resolve(file)))),
  ];
}

export function assetOf(path: string, body: Buffer): Asset {
  const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
  if (type === undefined) throw new Error(`Cannot serve ${path}: the type of its content is unknown`);
  return { path, type, body };
}

/** Another name for every other set of files, so that browsers may keep each for ever. */
export function versionOf(assets: readonly Asset[]): string {
  const hash = createHash("sha256");
  for (const { path, body } of assets) hash.update(`${path}\0${body.length}\0`).update(body);
  return hash.digest("base64url").slice(0, 12);
}

export function readPage(): string {
  return readFileSync(new URL("index.html", BROWSER), "utf8");
}
