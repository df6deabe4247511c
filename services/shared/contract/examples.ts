/** Example values of an endpoint's parameters, as sent, by name. Together they form one request. */
export type ExampleParams = Readonly<Record<string, string>>;

/**
 * Examples by endpoint path: requests that this instance answered with rows. For a missing path, documents show the
 * examples of its declaration, which are mainnet contracts.
 */
export type Examples = Readonly<Record<string, ExampleParams>>;

/** Path on a service's port where gateways read its Examples; not proxied to clients. */
export const EXAMPLES_PATH = "/internal/examples";
