import type { NodeChain } from "../../../deploy/devnet/solana/server/node-chain.ts";
import { startRpcServer } from "../../../deploy/devnet/solana/server/rpc-server.ts";

/** A URL behind which another chain can appear at any moment. */
export interface SwitchedEndpoint {
  readonly url: string;
  serve(chain: NodeChain): void;
  close(): Promise<void>;
}

/** One endpoint for each chain that is served at first. */
export function startSwitches(chains: readonly NodeChain[]): Promise<SwitchedEndpoint[]> {
  return Promise.all(chains.map(startSwitch));
}

async function startSwitch(first: NodeChain): Promise<SwitchedEndpoint> {
  let now = first;
  const server = await startRpcServer(new Proxy(first, { get: (_, name) => Reflect.get(now, name) }));
  return {
    url: server.url,
    serve(chain) {
      now = chain;
    },
    close: () => server.close(),
  };
}
