import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Debian puts it; CHROMIUM names another. */
const USUAL_PATH = "/usr/bin/chromium";

/** Undefined where there is none. */
export function findChromium(): string | undefined {
  const path = process.env.CHROMIUM || USUAL_PATH;
  return existsSync(path) ? path : undefined;
}

/** Asks no host but those that a test visits. */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
