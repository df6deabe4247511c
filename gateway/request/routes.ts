import type { Request, Response } from "express";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { Cors } from "./cors.ts";

/** A page of the gateway's own; one that needs a key checks it itself. */
export type Page = (req: Request, res: Response) => void | Promise<void>;

/** A page that answers every method but OPTIONS by itself. */
export interface Door {
  readonly page: Page;
  readonly cors: Cors;
}

export type Route =
  | { readonly kind: "endpoint"; readonly path: string; readonly endpoint: Endpoint }
  | { readonly kind: "page"; readonly path: string; readonly page: Page }
  | ({ readonly kind: "door"; readonly path: string } & Door);

export type Routes = ReadonlyMap<string, Route>;

/**
 * The whole public surface by exact path: one look-up instead of a pattern a route, and no pattern that could match
 * more than was meant. Throws on a path that is declared twice.
 */
export function createRoutes(
  catalogue: readonly Endpoint[],
  pages: Readonly<Record<string, Page>>,
  doors: Readonly<Record<string, Door>> = {},
): Routes {
  const routes = new Map<string, Route>();
  const add = (route: Route) => {
    if (routes.has(route.path)) throw new Error(`Cannot route ${route.path}: it is declared twice`);
    routes.set(route.path, route);
  };
  for (const endpoint of catalogue) add({ kind: "endpoint", path: endpoint.path, endpoint });
  for (const [path, page] of Object.entries(pages)) add({ kind: "page", path, page });
  for (const [path, door] of Object.entries(doors)) add({ kind: "door", path, ...door });
  return routes;
}
