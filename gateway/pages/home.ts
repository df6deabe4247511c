import { sendText } from "../../services/shared/http/exchange.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import type { Explorer } from "../explorer/explorer.ts";
import type { Page } from "../request/routes.ts";
import { createDocument } from "./document.ts";

const text = JSON.stringify({
  name: "chaintables",
  version: VERSION,
  docs: "/docs",
  openapi: "/openapi.json",
  mcp: "/mcp",
});

/** GET /docs/: the slash at the end is not part of the address. */
export const docsRedirect: Page = (_req, res) => {
  res.setHeader("Location", "/docs");
  sendText(res, { status: 308, type: "text/plain; charset=utf-8", text: "See /docs\n" });
};

/** GET /: the explorer for browsers; addresses of documents for programs. */
export function createHomePage({ html, policy }: Pick<Explorer, "html" | "policy">): Page {
  const page = createDocument({
    type: "text/html; charset=utf-8",
    headers: { "Content-Security-Policy": policy },
    vary: "Accept",
    // It names the files of this version, which the next one does not have.
    cacheControl: "no-cache",
    baseUrlOf: () => "",
    render: () => html,
  });
  return (req, res) => {
    if ((req.headers.accept ?? "").includes("text/html")) return page(req, res);
    res.setHeader("Vary", "Accept");
    sendText(res, { status: 200, type: "application/json", text });
  };
}
