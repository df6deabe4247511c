import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { EncodableResponse } from "../proxy/delivery/encodable-response.ts";
import { sendEncoded } from "../proxy/delivery/send-encoded.ts";
import type { Page } from "../request/routes.ts";
import { type Asset, assetOf, readAssets, readPage, versionOf } from "./assets.ts";
import { declareTables } from "./declared-tables.ts";

export interface Explorer {
  /** The page for browsers. Loads nothing but the assets below and this host's own API. */
  readonly html: string;
  readonly policy: string;
  /** Of the script that lets visitors try requests at /docs; as the page's own addresses, without a slash at the beginning. */
  readonly docsScript: string;
  /** By path, each for ever at its address: another version has another. */
  readonly assets: Readonly<Record<string, Page>>;
}

/**
 * Scripts, styles and requests of this host alone. No markup is ever parsed from text (trusted types): what strangers name
 * their tokens stays text.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(";");

const FOLDER = "explorer";
/** Where the page's own files go, in its markup. */
const VERSION_MARK = "{version}";
/** What the page loads itself, when it draws, or not at all. */
const NOT_PRELOADED: ReadonlySet<string> = new Set(["app.js", "uplot.js", "docs.js", "parts/pretty.js"]);
const PRELOAD_MARK = "<!-- modules -->";

/** The explorer: static files that derive all they show from the declarations of the catalogue. */
export function createExplorer(catalogue: readonly Endpoint[]): Explorer {
  const facts = { version: VERSION, tables: declareTables(catalogue) };
  const declared = assetOf("catalogue.json", Buffer.from(JSON.stringify(facts)));
  const files = [...readAssets(), declared];
  const version = versionOf(files);
  const base = `${FOLDER}/${version}`;
  // Without it a browser would learn of each module from the one before.
  const modules = files.filter(({ path }) => path.endsWith(".js") && !NOT_PRELOADED.has(path));
  const preloads = modules.map(({ path }) => `<link rel="modulepreload" href="${base}/${path}">`).join("\n");
  return {
    html: readPage().replaceAll(VERSION_MARK, version).replace(PRELOAD_MARK, preloads),
    policy: POLICY,
    docsScript: `${base}/docs.js`,
    assets: Object.fromEntries(files.map((file) => [`/${base}/${file.path}`, assetPage(file)])),
  };
}

function assetPage({ type, body }: Asset): Page {
  const answer = new EncodableResponse({ headers: { "content-type": type }, body });
  return async (req, res) => {
    res.setHeader("Cache-Control", "public, max-age=31536000, immutable");
    res.setHeader("Vary", "Accept-Encoding");
    await sendEncoded(req, res, answer);
  };
}
