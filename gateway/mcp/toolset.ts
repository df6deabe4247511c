import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { createBestYields } from "./composites/best-yields.ts";
import { findIn } from "./composites/endpoints.ts";
import { createExplainColumn } from "./composites/explain-column.ts";
import { createPoolReport } from "./composites/pool-report.ts";
import { createTokenReport } from "./composites/token-report.ts";
import { createWalletLiquidity } from "./composites/wallet-liquidity.ts";
import { createEndpointTool } from "./tools/endpoint-tool.ts";
import type { Tool } from "./tools/tool.ts";

/** Every tool by its name: the composites first, since they answer most questions, then one an endpoint. */
export function createToolset(catalogue: readonly Endpoint[]): ReadonlyMap<string, Tool> {
  const find = findIn(catalogue);
  const tools = [
    createPoolReport(find),
    createTokenReport(find),
    createWalletLiquidity(find),
    createBestYields(find),
    createExplainColumn(catalogue),
    ...catalogue.map((endpoint) => createEndpointTool(endpoint)),
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
