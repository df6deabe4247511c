import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { catalogue } from "../../gateway/catalogue.ts";
import { describeInChromium, listenToComplaints, startBrowser } from "./browser.ts";
import { findSeriousViolations } from "./screen-reader.ts";
import { type Stack, startStack } from "./stack.ts";

const PATIENCE_MS = 40_000;

describeInChromium("/docs in Chromium", defineSuite);

const textOf = async (place: Locator) => (await place.textContent()) ?? "";

function defineSuite(executablePath: string): void {
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let axe: string;
  const complaints: string[] = [];
  const hosts = new Set<string>();
  before(async () => {
    [stack, browser, axe] = await Promise.all([
      startStack(),
      startBrowser(executablePath),
      readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"),
    ]);
    await openTab();
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function openTab(
    options: { colorScheme?: "dark" | "light"; width?: number; javaScriptEnabled?: boolean } = {},
  ): Promise<void> {
    await context?.close();
    const { colorScheme = "light", width = 1_280, javaScriptEnabled = true } = options;
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled });
    context.setDefaultTimeout(PATIENCE_MS);
    page = await context.newPage();
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    listenToComplaints(page, complaints);
    await page.goto(`${stack.url}/docs`);
  }
  const sectionOf = (path: string) => page.locator(`section#${path.slice(1).replaceAll("/", "-")}`);
  /** Opens the form of an endpoint. */
  const tryOut = async (path: string) => {
    const section = sectionOf(path);
    await section.getByText("Try it", { exact: true }).click();
    await section.getByRole("button", { name: "Send" }).waitFor();
    return section;
  };

  it("has a form at every endpoint", async () => {
    await page.locator("details.try:visible").first().waitFor();
    const paths = await page
      .locator("details.try:visible")
      .evaluateAll((all) => all.map((one) => (one as unknown as { dataset: { path: string } }).dataset.path));
    expect(paths).to.deep.equal(catalogue.map(({ path }) => path));
  });

  it("shows the error of a request without a key, with its code and session", async () => {
    const section = await tryOut("/evm/chains");
    await section.getByRole("button", { name: "Send" }).click();
    await section.getByText(/^401 · .* set a key at the top of the page$/).waitFor();
    const body = JSON.parse(await textOf(section.getByRole("region", { name: "Body of the answer" })));
    expect(body).to.include({ error: "unauthorized" }).and.to.have.property("session");
  });

  it("keeps the key in the tab, and sends requests with it and with what the fields say", async () => {
    await page.locator("#try-key input").fill(stack.key);
    expect(await page.evaluate('sessionStorage.getItem("chaintables.key")')).to.equal(stack.key);
    expect(await page.evaluate("localStorage.length")).to.equal(0);
    const section = await tryOut("/evm/dexb/v3/pools");
    await section.getByLabel("limit").fill("2");
    await section.getByLabel("order_desc").fill("fee");
    await section.getByRole("button", { name: "Send" }).click();
    await section.getByText(/^200 · \d+ ms/).waitFor();
    const body = section.getByRole("region", { name: "Body of the answer" });
    const [table] = JSON.parse(await textOf(body));
    expect(table).to.include({ rows: 2 });
    await section.getByLabel("format").selectOption("csv");
    await section.getByRole("button", { name: "Send" }).click();
    await section.getByText(/^chainId,dexAddress/).waitFor();
    await section.getByText("Headers", { exact: true }).click();
    const headers = await textOf(section.getByRole("region", { name: "Headers of the answer" }));
    expect(headers)
      .to.match(/^x-data-block: \d+$/m)
      .and.to.match(/^etag: /m);
  });

  it("begins with the example that this instance answers, and shows the 400 of a broken rule", async () => {
    const section = await tryOut("/evm/dexb/v3/pool");
    const field = section.getByLabel("pool_address");
    await section.getByRole("button", { name: "Send" }).click();
    await section.getByText(/^(200|404) · /).waitFor();
    await field.fill("0x1");
    await page.keyboard.press("Enter");
    await section.getByText(/^400 · /).waitFor();
    const text = await textOf(section.getByRole("region", { name: "Body of the answer" }));
    expect(JSON.parse(text)).to.include({ error: "bad_request" });
    expect(text).to.contain("pool_address");
  });

  it("is whole without scripts, without forms that could not work", async () => {
    await openTab({ javaScriptEnabled: false });
    expect(await page.locator("section table").count()).to.be.above(catalogue.length);
    expect(await page.locator("details.try:visible, #try-key:visible").count()).to.equal(0);
  });

  for (const [colorScheme, width] of [
    ["light", 1_280],
    ["dark", 1_280],
    ["dark", 390],
  ] as const) {
    it(`has no serious finding of axe, ${colorScheme}, ${width} pixels wide, with an answer open`, async () => {
      await openTab({ colorScheme, width });
      const section = await tryOut("/evm/dexes");
      await section.getByRole("button", { name: "Send" }).click();
      await section.getByText(/^401 · /).waitFor();
      expect(await findSeriousViolations(page, axe)).to.deep.equal([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).to.be.at.most(0);
    });
  }

  it("asked no other host, made nothing that its policy refuses, and no script failed", () => {
    expect([...hosts]).to.deep.equal([new URL(stack.url).origin]);
    expect(complaints).to.deep.equal([]);
  });
}
