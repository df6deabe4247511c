import { isRequired } from "../../services/shared/contract/define.ts";
import { toMarkdown } from "../../services/shared/contract/derive/markdown.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { Page } from "../request/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { createDocument } from "./document.ts";
import type { DocumentDeps } from "./openapi.ts";

const TYPE = "text/markdown; charset=utf-8";

/** GET /llms.txt: what this is and where to read on, by llmstxt.org. */
export function createLlmsPage(deps: DocumentDeps): Page {
  return createDocument({
    type: TYPE,
    baseUrlOf: (req) => baseUrlOf(req, deps.publicUrl),
    render: (baseUrl) => renderIndex(deps, baseUrl),
  });
}

/** GET /llms-full.txt: the same with every parameter and column. */
export function createLlmsFullPage(deps: DocumentDeps): Page {
  return createDocument({
    type: TYPE,
    baseUrlOf: (req) => baseUrlOf(req, deps.publicUrl),
    render: (baseUrl) => [renderIndex(deps, baseUrl), ...deps.catalogue.map(toMarkdown)].join("\n"),
  });
}

function renderIndex({ catalogue, payUrl }: DocumentDeps, baseUrl: string): string {
  const line = (endpoint: Endpoint): string => {
    const { path, summary, params, priceUsd } = endpoint;
    const required = Object.keys(params).filter((name) => isRequired(endpoint, name));
    const needs = required.length === 0 ? "" : ` Needs ${required.join(", ")}.`;
    const price = priceUsd === undefined || payUrl === undefined ? "" : ` ${priceUsd} USD by x402.`;
    return `- [GET ${path}](${baseUrl}/docs#${path.slice(1).replaceAll("/", "-")}): ${summary}.${needs}${price}`;
  };
  const pay =
    payUrl === undefined
      ? ""
      : ` Endpoints with a price are also sold a request at ${payUrl} (x402 version 2).`;
  return `# chaintables

> On-chain market data as tables: EVM DEX pools, lending vaults and markets, Solana trades. Read-only HTTP.

- Every request is a GET with the API key in the header X-API-KEY.${pay}
- An answer is \`{columns, data, rows}\`, on EVM endpoints in an array of one. \`format=objects\` names the cells of each row;
  csv, ndjson, arrow and parquet exist too.
- X-Data-Block and X-Data-As-Of say which block an answer was made from. A value that is unknown is null, never 0.
- Lists have \`limit\` and \`offset\`; Link with rel="next" leads on, X-Total-Count is the number of rows where it is known.
- Agents: POST ${baseUrl}/mcp is an MCP server (Streamable HTTP, the same key) with a tool an endpoint, and pool_report,
  token_report, wallet_liquidity, best_yields, explain_column.
- Errors are \`{error, message, session}\`; a 400 names parameter, rule and value, a 429 or 503 has Retry-After.

## Endpoints

${catalogue.map(line).join("\n")}

## Documents

- [All parameters and columns](${baseUrl}/llms-full.txt): this page with a section an endpoint
- [OpenAPI](${baseUrl}/openapi.json): the same for machines, with examples from this instance
- [OpenAPI 3.1](${baseUrl}/openapi-3.1.json): the same, with the type of each column in the schemas of rows
- [OpenAPI, rows by name](${baseUrl}/openapi-objects.json): in OpenAPI 3.0, for generators that know no tuples
- [Documentation](${baseUrl}/docs): for people
- [State](${baseUrl}/status): how far each chain is indexed
`;
}
