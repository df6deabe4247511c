import { createHash } from "node:crypto";
import type { Page } from "../request/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { renderDocs } from "./docs-html.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { createDocument } from "./document.ts";
import { type DocumentDeps, onceFor } from "./openapi.ts";

/** Allows the page's own style sheet by its hash, an icon that is part of the page, and nothing else. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");

/** Put where the base address goes, so that the page is made once for its examples. */
const BASE_URL_MARK = "{base_url}";
/** Shown where it is unknown: a variable of the reader's shell, as the key is. */
const UNKNOWN_BASE_URL = "$BASE_URL";

/** GET /docs: the documentation of every endpoint. */
export function createDocsPage({ catalogue, publicUrl, payUrl, liveExamples }: DocumentDeps): Page {
  const makePieces = onceFor(liveExamples, (examples) =>
    renderDocs({ catalogue, baseUrl: BASE_URL_MARK, payUrl, examples }).split(BASE_URL_MARK),
  );
  return createDocument({
    type: "text/html; charset=utf-8",
    headers: { "Content-Security-Policy": POLICY },
    version: liveExamples,
    baseUrlOf: (req) => baseUrlOf(req, publicUrl) || UNKNOWN_BASE_URL,
    render: (baseUrl) => makePieces().join(baseUrl),
  });
}
