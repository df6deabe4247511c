import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { describeInChromium, listenToComplaints, startBrowser } from "./browser.ts";
import { findSeriousViolations } from "./screen-reader.ts";
import { type Stack, startStack } from "./stack.ts";

const SOL = "So11111111111111111111111111111111111111112";
const MAX_FIRST_PAGE = 200_000;
/** Chromium and three services beside each other on a busy machine. */
const PATIENCE_MS = 40_000;
const WIDTHS = { wide: 1_280, phone: 390 };

describeInChromium("the explorer in Chromium", defineSuite);

function defineSuite(executablePath: string): void {
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let axe: string;
  /** What the page complained about: scripts that fail, and what its policy refused. */
  const complaints: string[] = [];
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

  async function openTab(options: { colorScheme?: "dark" | "light"; width?: number } = {}): Promise<void> {
    await context?.close();
    const { colorScheme = "light", width = WIDTHS.wide } = options;
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    page = await context.newPage();
    listenToComplaints(page, complaints);
    await page.goto(`${stack.url}/#key=${encodeURIComponent(stack.key)}`);
    await page.waitForSelector("#chains tbody tr");
  }
  const go = async (hash: string): Promise<void> => {
    await page.goto(`${stack.url}/${hash}`);
  };
  const texts = (selector: string) => page.locator(selector).allInnerTexts();
  /** The first link of a list to the page of one of its rows. */
  const firstOf = async (kind: string, list: string): Promise<string> => {
    await go(`#/${kind}s?list=${list}`);
    return (await page.locator(`tbody a[href^="#/${kind}/"]`).first().getAttribute("href")) ?? "";
  };

  /** A pool of a list whose tokens have prices. */
  const pricedPoolOf = async (list: string): Promise<string> => {
    const ask = async (path: string) => {
      const answer = await fetch(`${stack.url}${path}`, { headers: { "X-API-KEY": stack.key } });
      const [{ columns, data }] = (await answer.json()) as [
        { columns: { name: string }[]; data: unknown[][] },
      ];
      return data.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
    };
    const nowS = Math.floor(Date.now() / 1_000);
    for (const { poolAddress, poolId } of await ask(`${list}?limit=100`)) {
      const address = String(poolAddress ?? poolId);
      const range = `after_time=${nowS - 604_800}&before_time=${nowS}&interval=2h`;
      const candles = await ask(`/evm/ohlcv/pool?pool_address=${address}&${range}`);
      if (candles.some(({ poolTvlUsd }) => poolTvlUsd !== null)) return address;
    }
    throw new Error(`No pool of ${list} has a TVL.`);
  };

  it("takes the key out of the link, keeps it in the tab and weighs less than 200 KB", async () => {
    expect(page.url()).to.equal(`${stack.url}/`);
    expect(await page.evaluate('sessionStorage.getItem("chaintables.key")')).to.equal(stack.key);
    expect(await page.evaluate("localStorage.length")).to.equal(0);
    const entries = await page.evaluate<{ transferSize?: number }[]>(
      "performance.getEntries().map((entry) => ({ transferSize: entry.transferSize }))",
    );
    const bytes = entries.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0);
    expect(bytes).to.be.within(10_000, MAX_FIRST_PAGE);
  });

  it("shows the state of each chain, and how many rows the lists have", async () => {
    const rows = await texts("#chains tbody tr");
    expect(rows).to.have.length(3);
    expect(await texts("#chains thead th")).to.include.members(["Block", "Head", "Final", "Lag"]);
    expect(rows.join("\n")).to.contain("8453").and.to.contain("lending").and.to.contain("Solana");
    await page.waitForSelector('section[aria-label="Lists"] tr:nth-child(1) td:nth-child(3):not(:text("–"))');
  });

  it("lists pools: searched, in pages and in another order by keyboard alone", async () => {
    await go("#/pools?list=/evm/dexb/v3/pools");
    await page.waitForSelector("tbody a");
    const all = await texts("tbody tr");
    expect(all.length).to.be.above(1);
    await page.locator('th a:has-text("Fee")').focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector('th[aria-sort="descending"] >> text=Fee');
    const fees = (await texts("tbody tr td:nth-child(6)")).map(Number.parseFloat);
    expect(fees).to.deep.equal([...fees].sort((a, b) => b - a));
    await page.getByPlaceholder("Symbol, name or address").last().fill("no such token");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=0 found in");
  });

  it("shows a pool: its figures, the six ranges as bars and as a table, and the request as curl", async () => {
    await go(await firstOf("pool", "/evm/dexb/v3/pools"));
    // Panels of the other DEXes are there, and hidden: they do not know it. Above the figures are the candles.
    await page.locator('section[aria-label="Price candles of one pool"]').waitFor();
    const panel = page
      .locator("section.panel:visible")
      .filter({ has: page.locator(".headlines") })
      .first();
    await panel.locator(".headlines dd").first().waitFor();
    await panel.locator(".ranges canvas").first().waitFor();
    const label = (await panel.locator(".ranges .plot").getAttribute("aria-label")) ?? "";
    expect(label).to.contain("5 minute").and.to.contain("1 year");
    await panel.locator('.ranges input[value="swapCount"]').check();
    await panel.locator('.ranges .plot[aria-label^="Swap count"]').waitFor();
    await panel.locator("button.curl").click();
    await page.waitForSelector("text=Copied");
    const line = await page.evaluate("navigator.clipboard.readText()");
    expect(line).to.contain(`-H 'X-API-KEY: ${stack.key}'`).and.to.contain("pool_address=0x");
  });

  for (const list of ["/evm/dexa/v2/pools", "/evm/dexb/v3/pools", "/evm/clones/v3/pools"])
    it(`charts price, volume and TVL of a pool of ${list} over the chosen range`, async () => {
      await go(`#/pool/${await pricedPoolOf(list)}?chain_id=8453&range=1%20week`);
      const candles = page.locator('section[aria-label="Price candles of one pool"]');
      const labelOf = async (at: number) => {
        await candles.locator(".plot canvas").nth(at).waitFor();
        return (await candles.locator(".plot").nth(at).getAttribute("aria-label")) ?? "";
      };
      expect(await labelOf(0)).to.match(/^Price: \d+ candles from \$/);
      expect(await labelOf(1)).to.match(/^Pool TVL USD: \d+ points, from \$[\d.]/);
      await candles.getByText("As a table").click();
      const headers = await candles.locator("thead th").allInnerTexts();
      expect(headers.join()).to.match(/Volume.*Pool TVL USD/s);
      for (const range of ["5 minute", "1 hour", "1 day", "1 month", "1 year"]) {
        await page.locator(`nav[aria-label="Range of time"] >> text="${range}"`).click();
        await page.waitForSelector(`nav[aria-label="Range of time"] [aria-current] >> text="${range}"`);
        await candles.locator(".message:visible, .plot canvas").first().waitFor();
        expect(await candles.locator(".message.error:visible").count(), range).to.equal(0);
      }
    });

  it("shows a vault with its rates and the markets that it lends to", async () => {
    await go(await firstOf("vault", "/evm/lending/lendingc/v1/vaults"));
    await page.waitForSelector(".headlines dt:visible:has-text('Supply APY')");
    await page.waitForSelector('section[aria-label="Markets of one lendingc vault"] tbody tr');
    const history = page.locator("section[aria-label=\"History of a vault's or market's rates\"]");
    await history.locator("canvas").waitFor();
    await history.locator('input[value="utilizationRate"]').check();
    await history.locator('.plot[aria-label^="Utilization rate: "]').waitFor();
  });

  it("shows a token: candles over a range of time, and its trades", async () => {
    await go(`#/token/${SOL}`);
    await page.waitForSelector('section[aria-label="Price candles of one token"] canvas');
    await page.waitForSelector('section[aria-label="Transactions of one token"] tbody tr');
    await page.locator('nav[aria-label="Range of time"] >> text=1 week').click();
    await page.waitForSelector('nav[aria-label="Range of time"] [aria-current] >> text=1 week');
  });

  it("finds what an address is: tokens of pools, wallets", async () => {
    const [address = ""] = stack.known.filter((known) => known.startsWith("0x"));
    await page.locator("#search-input").fill(address);
    await page.keyboard.press("Enter");
    await page.locator("text=as a wallet").click();
    await page.waitForSelector(".headlines, .message.error");
    await page.waitForSelector("h1 >> text=Wallet");
  });

  it("has a page for each endpoint, and says what is missing of a request", async () => {
    await go("#/tables");
    await page.waitForSelector(".endpoints a");
    const { paths } = (await (await fetch(`${stack.url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
    };
    const shown = (await texts(".endpoints a")).sort();
    expect(shown).to.deep.equal(
      Object.keys(paths)
        .filter((path) => /^\/(evm|api)\//.test(path))
        .sort(),
    );
    await go("#/table/evm/dexb/v3/pool");
    await page.waitForSelector("text=Fill in pool_address");
  });

  it("shows the symbols of strangers as text, whatever they are", async () => {
    const rude = '<img src=x onerror="document.title=1">';
    await page.route("**/evm/dexb/v3/pools*", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replaceAll('"WETH"', JSON.stringify(rude)),
      });
    });
    await go("#/pools?list=/evm/dexb/v3/pools&order_asc=fee");
    await page.getByText(rude).first().waitFor();
    expect(await page.locator("img").count()).to.equal(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("asks for a key where there is none, and takes one", async () => {
    await page.locator("#key").click();
    await page.locator("#key-forget").click();
    await go("#/vaults");
    await page.waitForSelector("text=Tables need an API key");
    await page.locator("#key").click();
    await page.locator("#key-input").fill(stack.key);
    await page.keyboard.press("Enter");
    await page.waitForSelector("tbody a");
  });

  it("is live, and stands still when it is asked to", async () => {
    await go("#/overview");
    const nextStatus = () => page.waitForRequest(/\/status$/, { timeout: PATIENCE_MS });
    await nextStatus();
    await page.locator("#live").click();
    expect(await page.locator("#live").getAttribute("aria-pressed")).to.equal("true");
    await page.locator("#live").click();
    await nextStatus();
  });

  for (const [colorScheme, width] of [
    ["light", WIDTHS.wide],
    ["dark", WIDTHS.wide],
    ["dark", WIDTHS.phone],
  ] as const) {
    it(`has no serious finding of axe, ${colorScheme}, ${width} pixels wide`, async () => {
      await openTab({ colorScheme, width });
      const pool = await firstOf("pool", "/evm/dexb/v3/pools");
      for (const hash of [
        "#/overview",
        "#/vaults",
        pool,
        `#/token/${SOL}`,
        "#/table/evm/lending/lendingc/markets",
      ]) {
        await go(hash);
        await page.waitForSelector("main section, main form");
        await page.locator('text="Loading …"').first().waitFor({ state: "hidden" });
        expect(await findSeriousViolations(page, axe), hash).to.deep.equal([]);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${hash} is wider than the screen`).to.be.at.most(0);
      }
    });
  }

  it("made nothing that its policy refuses, and no script failed", () => {
    expect(complaints).to.deep.equal([]);
  });
}
