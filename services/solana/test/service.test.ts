import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe } from "mocha";
import { describeService } from "../../shared/host/testkit/service-suite.ts";
import { endpoints } from "../contract.ts";

const entry = new URL("../main.ts", import.meta.url);

describe("solana with an empty store", () => {
  const dataDir = join(tmpdir(), `chaintables-solana-${randomUUID()}`);
  after(() => rm(dataDir, { recursive: true, force: true }));
  const nothing = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };

  describeService({
    name: "solana",
    entry,
    env: { DATA_DIR: dataDir },
    endpoints,
    status: {
      mode: "empty",
      chains: [{ chainId: 0, name: "Solana", ...nothing, chainHead: null, lagBlocks: null }],
      peers: [],
    },
  });
});
