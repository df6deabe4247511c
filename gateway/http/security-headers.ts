import type { RequestHandler } from "express";
import helmet from "helmet";

/**
 * Helmet's headers for an API. Its default policy for content would break /docs over plain HTTP
 * (upgrade-insecure-requests), so answers allow nothing and the documentation page sets its own.
 */
export function securityHeaders(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Answers are for pages of any origin, as CORS says.
    crossOriginResourcePolicy: { policy: "cross-origin" },
  });
}
