/** The official SDK, loaded when it is first needed: 25 MB of memory that a gateway whom nobody asks by MCP need not have. */
export async function loadSdk() {
  const [server, types, http] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
  ]);
  return {
    Server: server.Server,
    HttpTransport: http.WebStandardStreamableHTTPServerTransport,
    ...{
      CallToolRequestSchema: types.CallToolRequestSchema,
      ListToolsRequestSchema: types.ListToolsRequestSchema,
    },
    ...{ McpError: types.McpError, ErrorCode: types.ErrorCode },
  };
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
