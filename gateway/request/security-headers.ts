import type { IncomingMessage, ServerResponse } from "node:http";
import type { Response } from "express";
import helmet from "helmet";

/**
 * Helmet's headers for an API. Its default policy for content would break /docs over plain HTTP
 * (upgrade-insecure-requests), so answers allow nothing and the documentation page sets its own.
 */
const FOR_PAGES = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  // Answers are for pages of any origin, as CORS says.
  crossOriginResourcePolicy: { policy: "cross-origin" as const },
};

/**
 * A table is no document: nothing in it is run, linked or navigated from. What is left says that it must not be taken
 * for one, nor framed (frame-ancestors), and that the host is reached over TLS. Each header costs every response.
 */
const FOR_TABLES = {
  ...FOR_PAGES,
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/** Helmet's headers are the same for every response, so it runs once. */
function headersOf(protect: ReturnType<typeof helmet>): readonly (readonly [name: string, value: string])[] {
  const headers: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => void headers.push([name, value]),
    removeHeader: () => {},
  };
  protect({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return headers;
}

const pageHeaders = headersOf(helmet(FOR_PAGES));

/** The headers of a table: names and values in turn, as writeHead takes them. */
export const tableSecurityHeaders: readonly string[] = headersOf(helmet(FOR_TABLES)).flat();

/** Sets the headers of a page or an error. */
export function setSecurityHeaders(res: Response): void {
  for (const [name, value] of pageHeaders) res.setHeader(name, value);
}
