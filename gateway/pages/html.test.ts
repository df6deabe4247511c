import { expect } from "chai";
import { describe, it } from "mocha";
import { defineColumns, defineEndpoint } from "../../services/shared/contract/define.ts";
import { renderDocs } from "./docs-html.ts";
import { html } from "./html.ts";

describe("markup", () => {
  it("escapes every text and keeps what is markup", () => {
    const part = html`<b>${"a & b"}</b>`;
    expect(html`<p title="${'"'}">${"<i>"}${part}${[1, "'"]}</p>`.markup).to.equal(
      '<p title="&quot;">&lt;i&gt;<b>a &amp; b</b>1&#39;</p>',
    );
  });

  it("lets no declaration break the documentation page", () => {
    const hostile = defineEndpoint({
      family: "solana",
      path: "/test",
      summary: "<script>alert(1)</script>",
      mediaType: "application/json",
      body: "object",
      params: {},
      columns: defineColumns([{ name: "a", type: "String", unit: "<b>", description: "`<i>` & more." }]),
      rowOrder: "<u>",
      whenAbsent: "empty",
    });
    const page = renderDocs({ catalogue: [hostile], baseUrl: 'http://"><script>', script: "s.js" });
    const [own = "", rest = ""] = page.split('<script type="module" src="s.js"></script>');
    expect(own + rest)
      .to.have.length.above(1_000)
      .and.not.to.match(/<script|<u>|<i>|<b>/);
    expect(page).to.contain("<code>&lt;i&gt;</code> &amp; more.");
  });
});
