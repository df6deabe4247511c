import { toOpenApi } from "../../services/shared/contract/derive/openapi.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { Page } from "../http/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { createDocument } from "./document.ts";

export interface DocumentDeps {
  readonly catalogue: readonly Endpoint[];
  readonly publicUrl?: string | undefined;
  /** Of the pay-per-request host, where there is one. */
  readonly payUrl?: string | undefined;
}

/** Put where the base address goes, so that the document, the dearest thing to make here, is made only once. */
const BASE_URL_MARK = "{base_url}";

/** GET /openapi.json: the document of proto/openapi.json with this gateway as its server. */
export function createOpenApiPage({ catalogue, publicUrl, payUrl }: DocumentDeps): Page {
  let pieces: string[] | undefined;
  const options = { serverUrl: BASE_URL_MARK, ...(payUrl !== undefined && { payUrl }) };
  return createDocument({
    type: "application/json",
    baseUrlOf: (req) => baseUrlOf(req, publicUrl) || "/",
    render(serverUrl) {
      pieces ??= JSON.stringify(toOpenApi(catalogue, options)).split(BASE_URL_MARK);
      return pieces.join(serverUrl);
    },
  });
}
