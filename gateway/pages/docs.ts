import { createHash } from "node:crypto";
import type { Page } from "../http/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { renderDocs } from "./docs-html.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { createDocument } from "./document.ts";
import type { DocumentDeps } from "./openapi.ts";

/** Allows the page's own style sheet by its hash, and nothing else. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");

/** Put where the base address goes, so that the page is made only once. */
const BASE_URL_MARK = "{base_url}";
/** Shown where nobody knows it: a variable of the reader's shell, as the key is. */
const UNKNOWN_BASE_URL = "$BASE_URL";

/** GET /docs: the documentation of every endpoint. */
export function createDocsPage({ catalogue, publicUrl, payUrl }: DocumentDeps): Page {
  let pieces: string[] | undefined;
  return createDocument({
    type: "text/html; charset=utf-8",
    headers: { "Content-Security-Policy": POLICY },
    baseUrlOf: (req) => baseUrlOf(req, publicUrl) || UNKNOWN_BASE_URL,
    render(baseUrl) {
      pieces ??= renderDocs({ catalogue, baseUrl: BASE_URL_MARK, payUrl }).split(BASE_URL_MARK);
      return pieces.join(baseUrl);
    },
  });
}
