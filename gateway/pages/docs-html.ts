import type { Column } from "../../services/shared/contract/column.ts";
import { ruleOf } from "../../services/shared/contract/derive/markdown.ts";
import {
  describeParameters,
  minimalRequest,
  type ParameterDoc,
  selectExamples,
} from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint, Family } from "../../services/shared/contract/endpoint.ts";
import type { ExampleParams, Examples } from "../../services/shared/contract/examples.ts";
import { HTTP_STATUS } from "../../services/shared/errors.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { type Html, html } from "./html.ts";

const TITLES: Readonly<Record<Family, string>> = {
  "evm-dex": "EVM exchanges",
  lending: "EVM lending",
  solana: "Solana",
};

const WHEN: Readonly<Record<keyof typeof HTTP_STATUS, string>> = {
  bad_request:
    "A parameter is missing or breaks its rule; the message names the parameter, the rule and the value.",
  unauthorized: "No key, or one that is malformed, unknown, expired or revoked.",
  payment_required: "On the pay-per-request address: no valid payment came with the request.",
  forbidden: "The key is suspended or has no scope for this family of endpoints.",
  not_found: "An unknown path or method, or an unknown pool or vault.",
  request_timeout: "The answer was not there within the deadline.",
  rate_limited:
    "Too many requests with this key, or from this address too many that had to be refused; Retry-After says when to come back.",
  internal: "A fault of the service; the session names the request in its log.",
  unavailable: "A part of the service is down or has no data yet; Retry-After says when to come back.",
  http_version_not_supported: "The request line names a version of HTTP other than 1.0 and 1.1.",
};

export interface DocsSource {
  readonly catalogue: readonly Endpoint[];
  /** Where the example requests go; without a slash at the end. */
  readonly baseUrl: string;
  /** Where requests are sold; absent = nowhere. */
  readonly payUrl?: string | undefined;
  /** Address of the script behind "Try it". */
  readonly script: string;
  /** Of this instance's data; endpoints that are not in it show the examples of their declarations. */
  readonly examples?: Examples;
}

/** A table of rows, as an image inside the page: without one a browser requests /favicon.ico. */
/** Also GET /favicon.ico. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0a5bd3"/><path d="M3 5h10M3 8h10M3 11h10" stroke="#fff"/></svg>';

/** Whose addresses the declarations' examples are. */
const MAINNET: Readonly<Record<Family, string>> = {
  "evm-dex": "Base mainnet",
  lending: "Base mainnet",
  solana: "Solana mainnet",
};

/** The documentation as one page, whole without its script; nothing is loaded from elsewhere. */
export function renderDocs({ catalogue, baseUrl, payUrl, script, examples = {} }: DocsSource): string {
  const families = (Object.keys(TITLES) as Family[])
    .map((family) => ({ family, endpoints: catalogue.filter((endpoint) => endpoint.family === family) }))
    .filter(({ endpoints }) => endpoints.length > 0);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>chaintables</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<style>${{ markup: DOCS_STYLE }}</style>
<script type="module" src="${script}"></script>
</head>
<body>
<div class="page">
<nav>
<strong>chaintables</strong> <span class="soft">${VERSION}</span>
<h2>General</h2>
<ul>
<li><a href="#start">First request</a></li>
<li><a href="#tables">Tables</a></li>
<li><a href="#limits">Limits and usage</a></li>
<li><a href="#errors">Errors</a></li>
${
  payUrl === undefined
    ? ""
    : html`<li><a href="#payment">Payment in place of a key</a></li>
`
}<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/openapi-3.1.json">OpenAPI 3.1, rows typed</a></li>
<li><a href="/openapi-objects.json">OpenAPI, rows by name, typed</a></li>
</ul>
${families.map(
  ({ family, endpoints }) => html`<h2>${TITLES[family]}</h2>
<ul>
${endpoints.map(
  (endpoint) => html`<li><a href="#${anchorOf(endpoint)}">${breakable(endpoint.path)}</a></li>
`,
)}</ul>
`,
)}
</nav>
<main>
<h1>On-chain market data as tables</h1>
<p class="soft">${catalogue.length} read-only endpoints: pools, prices and volumes of exchanges, lending vaults and markets, Solana trades.</p>
${general(baseUrl)}
${payUrl === undefined ? "" : payment(catalogue, payUrl)}
${families.map(
  ({ family, endpoints }) => html`<h2 class="family">${TITLES[family]}</h2>
${endpoints.map((endpoint) => section(endpoint, { baseUrl, live: examples[endpoint.path] }))}`,
)}
</main>
</div>
</body>
</html>
`;
  return page.markup;
}

function general(baseUrl: string): Html {
  return html`<section id="start">
<h3>First request</h3>
<p>Every endpoint is a GET with query parameters. Send your API key in the header <code>X-API-KEY</code>; the examples here read it from the shell's variable <code>KEY</code>.</p>
<p>A key comes from the operator of this instance. On your own: <code>npm start</code> prints a demo key, and <code>npm run keys -- create --label my-agent</code> makes one.</p>
<pre>export KEY=… # your key
curl -H "X-API-KEY: $KEY" "${baseUrl}/evm/chains"</pre>
<form id="try-key" hidden></form>
</section>
<section id="tables">
<h3>Tables</h3>
<p>A successful answer is a table: <code>columns</code> with name and type, <code>data</code> with one array of cells a row in the order of the columns, and <code>rows</code>, their number. EVM endpoints answer an array that holds one table, Solana endpoints the table itself.</p>
<p>A cell of type <code>Nullable(…)</code> is null where its value is not known: a number in USD is never 0 for want of a price. Whole numbers above 2<sup>53</sup> are decimal strings; <code>DateTime</code> is ISO 8601 in UTC. Ratios are fractions (0.0424 is 4.24 %) unless their unit says percent.</p>
<p>Headers describe the data: <code>X-Data-Block</code> and <code>X-Data-As-Of</code> name the block of a response, <code>X-Data-Head</code> beside it the indexed head where an earlier block was asked for, <code>X-Data-From-Block</code> the first indexed one, <code>X-Data-Positions-From-Block</code> the one from which on all LP positions of a wallet are known; <code>X-Data-Stale</code> names data that is older than that block allows (<code>prices; age=123</code>, in seconds). A response's <code>ETag</code> sent back as <code>If-None-Match</code> gets 304 while nothing has changed. Parameters an endpoint does not know are ignored and named in <code>X-Ignored-Parameters</code>.</p>
</section>
<section id="limits">
<h3>Limits and usage</h3>
<p>A key may ask at a rate (requests a second in the long run), in bursts (requests at once) and, where it has a quota, so often a UTC day. Every answer to a key with limits says what they are and what is left:</p>
<pre>RateLimit-Policy: "burst";q=200;w=2, "daily";q=5000;w=86400
RateLimit: "burst";r=199;t=1, "daily";r=4999;t=3600</pre>
<p>There <code>q</code> requests are allowed in <code>w</code> seconds, <code>r</code> are left now, and no more than these within <code>t</code> seconds. A request too many gets 429; <code>Retry-After</code> is the true wait in seconds. Requests without a valid key or path are limited by the client's address.</p>
<p><code>GET /usage</code> with your key answers its <code>limits</code> (null where it has none), what is <code>remaining</code> of the burst and of the day, when the day ends, and its <code>usage</code> of the last 31 UTC days, the latest first: <code>requests</code> that were let pass and <code>limited</code> ones, by endpoint. Requests through other gateways show within some seconds. Asking counts against the rate, not against the quota.</p>
<pre>curl -H "X-API-KEY: $KEY" "${baseUrl}/usage"</pre>
</section>
<section id="errors">
<h3>Errors</h3>
<p>Every error is JSON with <code>error</code>, <code>message</code> and <code>session</code>. The session is also the header <code>X-Session-Id</code> of every answer; quote it when you report a problem.</p>
${table(
  "Errors",
  ["Status", "error", "When"],
  Object.entries(HTTP_STATUS).map(
    ([code, status]) =>
      html`<tr><td>${status}</td><td><code>${code}</code></td><td class="text">${WHEN[code as keyof typeof HTTP_STATUS]}</td></tr>`,
  ),
)}
</section>`;
}

function payment(catalogue: readonly Endpoint[], payUrl: string): Html {
  const sold = catalogue.flatMap(({ path, priceUsd }) =>
    priceUsd === undefined ? [] : [{ path, priceUsd }],
  );
  return html`<section id="payment">
<h3>Payment in place of a key</h3>
<p>These are also sold without a key at <code>${payUrl}</code>, request by request, by x402 version 2: a request without payment gets 402 with the terms (header <code>PAYMENT-REQUIRED</code> and body), the same request with the signed payment (header <code>PAYMENT-SIGNATURE</code>) gets the table and a receipt (header <code>PAYMENT-RESPONSE</code>). Errors are not charged. A client that has paid and got no response sends the request again, with the same payment or a new one, and is not charged again.</p>
${table(
  "Prices",
  ["Endpoint", "Price"],
  sold.map(
    ({ path, priceUsd }) =>
      html`<tr><td><code>${path}</code></td><td>${priceUsd} USD a request, in USDC on Base</td></tr>`,
  ),
)}
</section>`;
}

function section(
  endpoint: Endpoint,
  { baseUrl, live }: { readonly baseUrl: string; readonly live: ExampleParams | undefined },
): Html {
  const { path, summary, description, mediaType, columns, rowOrder, whenAbsent } = endpoint;
  const parameters = describeParameters(endpoint);
  const example = minimalRequest(parameters, selectExamples(parameters, live));
  const order = rowOrder === "one row" ? "One row" : `Rows in order of ${rowOrder}`;
  const absence = whenAbsent === "not_found" ? "404 for an unknown address" : "no rows where nothing matches";
  return html`<section id="${anchorOf(endpoint)}">
<h3><span class="method">GET</span><code>${path}</code></h3>
<p><strong>${prose(summary)}.</strong></p>
${
  description === undefined
    ? ""
    : html`<p>${prose(description)}</p>
`
}<p class="soft">${prose(order)}; ${absence}. <span class="tag">${mediaType}</span></p>
${parameters.length === 0 ? html`<p class="soft">No parameters.</p>` : table(`Parameters of ${path}`, ["Parameter", "Rule", "Meaning"], parameters.map(parameterRow))}
${table(`Columns of ${path}`, ["Column", "Type", "Unit", "Meaning"], columns.map(columnRow))}
<pre>curl -H "X-API-KEY: $KEY" "${baseUrl}${path}${queryOf(example)}"</pre>
${
  live !== undefined || example.length === 0
    ? ""
    : html`<p class="soft">An example of ${MAINNET[endpoint.family]}: this instance has found none in its own data yet.</p>
`
}<details class="try" data-path="${path}" data-query="${queryOf(example).slice(1)}" hidden><summary>Try it</summary></details>
</section>
`;
}

function parameterRow(parameter: ParameterDoc): Html {
  const mark = parameter.required ? html` <span class="tag need">required</span>` : "";
  return html`<tr><td><code>${parameter.name}</code>${mark}</td><td class="rule">${prose(ruleOf(parameter))}</td><td class="text">${prose(parameter.description)}</td></tr>
`;
}

function columnRow({ name, type, unit, description, sortable, nullable }: Column): Html {
  const marks = [
    sortable === true ? html` <span class="tag">sortable</span>` : "",
    nullable === true ? html` <span class="tag">may be null</span>` : "",
  ];
  return html`<tr><td><code>${name}</code>${marks}</td><td>${type}</td><td>${unit ?? ""}</td><td class="text">${prose(description)}</td></tr>
`;
}

/** A sentence whose words between backticks are code. */
function prose(text: string): Html {
  const pieces = text
    .split("`")
    .map((piece, position) => (position % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
  return html`${pieces}`;
}

/** Wider than a phone: it can be scrolled by keyboard too, and says what it is. */
function table(label: string, headings: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="${label}"><table><thead><tr>${headings.map((heading) => html`<th>${heading}</th>`)}</tr></thead><tbody>
${rows}</tbody></table></div>`;
}

function queryOf(example: readonly (readonly [name: string, value: string])[]): string {
  const pairs = example.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** A path that may wrap after its slashes and nowhere inside a word. */
function breakable(path: string): Html {
  return html`${path.split("/").map((word, position) => (position === 0 ? word : html`/<wbr>${word}`))}`;
}

function anchorOf({ path }: Endpoint): string {
  return path.slice(1).replaceAll("/", "-");
}
