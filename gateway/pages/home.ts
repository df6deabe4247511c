import { sendText } from "../../services/shared/http/exchange.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import type { Page } from "../request/routes.ts";

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

/** GET /: redirects browsers to the documentation, returns its addresses to programs. */
export const homePage: Page = (req, res) => {
  res.setHeader("Vary", "Accept");
  if (!(req.headers.accept ?? "").includes("text/html")) {
    sendText(res, { status: 200, type: "application/json", text });
    return;
  }
  res.setHeader("Location", "/docs");
  sendText(res, { status: 302, type: "text/plain; charset=utf-8", text: "See /docs\n" });
};
