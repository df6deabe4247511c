import { existsSync } from "node:fs";
import { describe, it } from "mocha";
import { type Browser, chromium, type Page } from "playwright-core";
import { describeThorough } from "../../services/shared/testkit/describe.ts";

/** Where Debian puts it; CHROMIUM names another. */
const USUAL_PATH = "/usr/bin/chromium";

/** Undefined where there is none. */
export function findChromium(): string | undefined {
  const path = process.env.CHROMIUM || USUAL_PATH;
  return existsSync(path) ? path : undefined;
}

/** A suite of the full check in a browser; where there is no Chromium it is pending, and says so. */
export function describeInChromium(title: string, define: (executablePath: string) => void): void {
  const executablePath = findChromium();
  if (executablePath !== undefined) describeThorough(title, () => define(executablePath));
  else
    describe(title, () => {
      it("pending: there is no Chromium: set CHROMIUM, or install Debian's package", function () {
        this.skip();
      });
    });
}

/** Collects in `complaints` what a page says of itself: scripts that fail, and what its policy refused. */
export function listenToComplaints(page: Page, complaints: string[]): void {
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) complaints.push(message.text());
  });
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
