import { toOpenApi } from "../../services/shared/contract/derive/openapi.ts";
import { HOST_PATHS } from "../../services/shared/contract/derive/openapi-host.ts";
import { toObjectsOpenApi } from "../../services/shared/contract/derive/openapi-objects.ts";
import { toTypedOpenApi } from "../../services/shared/contract/derive/openapi-typed.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { Page } from "../request/routes.ts";
import { baseUrlOf } from "./base-url.ts";
import { createDocument } from "./document.ts";
import type { LiveExamples } from "./live-examples.ts";

export interface DocumentDeps {
  readonly catalogue: readonly Endpoint[];
  readonly publicUrl?: string | undefined;
  /** Of the pay-per-request host, where there is one. */
  readonly payUrl?: string | undefined;
  /** What documents show in place of the declarations' examples; from memory, another object when they change. */
  readonly liveExamples?: (() => LiveExamples) | undefined;
}

/** Put where the base address goes, so that the document, the dearest thing to make here, is made once for its examples. */
const BASE_URL_MARK = "{base_url}";

/** GET /openapi.json: the document of proto/openapi.json with this gateway as its server. */
export function createOpenApiPage(deps: DocumentDeps): Page {
  return createDescriptionPage(deps, toOpenApi);
}

/** GET /openapi-3.1.json: the same in OpenAPI 3.1, with the type of each column. */
export function createTypedOpenApiPage(deps: DocumentDeps): Page {
  return createDescriptionPage(deps, toTypedOpenApi);
}

/** GET /openapi-objects.json: in OpenAPI 3.0, rows by name alone, with the type of each column. */
export function createObjectsOpenApiPage(deps: DocumentDeps): Page {
  return createDescriptionPage(deps, toObjectsOpenApi);
}

function createDescriptionPage(
  { catalogue, publicUrl, payUrl, liveExamples }: DocumentDeps,
  describe: typeof toOpenApi,
): Page {
  const options = {
    serverUrl: BASE_URL_MARK,
    hostPaths: HOST_PATHS,
    ...(payUrl !== undefined && { payUrl }),
  };
  const makePieces = onceFor(liveExamples, (examples) =>
    JSON.stringify(describe(catalogue, { ...options, examples })).split(BASE_URL_MARK),
  );
  return createDocument({
    type: "application/json",
    version: liveExamples,
    baseUrlOf: (req) => baseUrlOf(req, publicUrl) || "/",
    render: (serverUrl) => makePieces().join(serverUrl),
  });
}

/** Renders a document on the first request, and again only after its examples have changed. */
export function onceFor<T>(
  liveExamples: DocumentDeps["liveExamples"],
  make: (examples: LiveExamples["examples"]) => T,
): () => T {
  let made: { readonly live: LiveExamples | undefined; readonly document: T } | undefined;
  return () => {
    const live = liveExamples?.();
    if (made === undefined || made.live !== live) made = { live, document: make(live?.examples ?? {}) };
    return made.document;
  };
}
