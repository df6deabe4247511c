/** Example values of an endpoint's parameters, as sent, by name. Together they are one request. */
export type ExampleParams = Readonly<Record<string, string>>;

/**
 * Examples of endpoints, by path, that the instance which tells them has answered with rows. A path that is not there
 * has none: its declaration's examples, contracts of mainnet, are shown in their place.
 */
export type Examples = Readonly<Record<string, ExampleParams>>;

/** Where a service tells its gateways its Examples: a path of its port that no client reaches through a gateway. */
export const EXAMPLES_PATH = "/internal/examples";
