/** Example values of an endpoint's parameters, as sent, by name. Together they are one request. */
export type ExampleParams = Readonly<Record<string, string>>;

/**
 * Examples by endpoint path: requests that this instance has answered with rows. For a path that is missing, documents
 * show the examples of its declaration, which are contracts of mainnet.
 */
export type Examples = Readonly<Record<string, ExampleParams>>;

/** Path on a service's port where gateways read its Examples. No client reaches it through a gateway. */
export const EXAMPLES_PATH = "/internal/examples";
