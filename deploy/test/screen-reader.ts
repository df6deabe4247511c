import type { Page } from "playwright-core";

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** What axe-core finds serious or critical on a page, in words. */
export async function findSeriousViolations(page: Page, axe: string): Promise<string[]> {
  // Past the protocol of developers: the page's own policy lets nothing else in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResult>("axe.run(document, { resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(" | ")}`);
}
