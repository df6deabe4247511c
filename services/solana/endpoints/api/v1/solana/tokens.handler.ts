import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { Pacer } from "../../../../../shared/service/pacer.ts";
import { answerAtHead } from "../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { findTokens } from "../../../../serve/tokens/find-tokens.ts";
import { endpoint } from "./tokens.endpoint.ts";

export function tokensHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return ({ filter, limit, offset: skip }, { signal }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      signal,
      read: async (_, store) => {
        const found = await findTokens(store, { filter, skip, limit, pacer: new Pacer(signal) });
        return found.map(({ mint, symbol, name, decimals }) =>
          toCells(endpoint, { programId: mint, symbol, name, decimals }),
        );
      },
    });
}
