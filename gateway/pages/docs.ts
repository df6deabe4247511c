import { createHash } from "node:crypto";
import type { Explorer } from "../explorer/explorer.ts";
import type { Page } from "../request/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { renderDocs } from "./docs-html.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { createDocument } from "./document.ts";
import { type DocumentDeps, onceFor } from "./openapi.ts";

/**
 * Allows the page's own style sheet by its hash, an icon that is part of the page, this host's scripts and requests to it.
 * No markup is ever parsed from text: what strangers name their tokens stays text.
 */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'`,
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(";");

/** Put where the base address goes, so that the page is made once for its examples. */
const BASE_URL_MARK = "{base_url}";
/** Shown where it is unknown: a variable of the reader's shell, as the key is. */
const UNKNOWN_BASE_URL = "$BASE_URL";

/** GET /docs: the documentation of every endpoint, each with a form to try it. */
export function createDocsPage(
  { catalogue, publicUrl, payUrl, liveExamples }: DocumentDeps,
  { docsScript: script }: Pick<Explorer, "docsScript">,
): Page {
  const makePieces = onceFor(liveExamples, (examples) =>
    renderDocs({ catalogue, baseUrl: BASE_URL_MARK, payUrl, script, examples }).split(BASE_URL_MARK),
  );
  return createDocument({
    type: "text/html; charset=utf-8",
    headers: { "Content-Security-Policy": POLICY },
    version: liveExamples,
    baseUrlOf: (req) => baseUrlOf(req, publicUrl) || UNKNOWN_BASE_URL,
    render: (baseUrl) => makePieces().join(baseUrl),
  });
}
