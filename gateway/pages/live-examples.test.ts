import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Family } from "../../services/shared/contract/endpoint.ts";
import { createLog } from "../../services/shared/logging/log.ts";
import { catalogue } from "../catalogue.ts";
import { createUpstreamGroup, type UpstreamGroup } from "../proxy/upstream/upstream.ts";
import { until } from "../testkit/until.ts";
import { LiveExampleWatch } from "./live-examples.ts";
import { onceFor } from "./openapi.ts";

const POOL = "/evm/dexb/v3/pool";
const GOOD = { chain_id: "8453", pool_address: `0x${"ab".repeat(20)}` };
type Answer = (req: IncomingMessage, res: ServerResponse) => void;

describe("gateway/pages/live-examples", () => {
  let server: Server;
  let answer: Answer;
  const seen: IncomingMessage[] = [];
  const watches: LiveExampleWatch[] = [];
  beforeEach(async () => {
    seen.length = 0;
    server = createServer((req, res) => {
      seen.push(req);
      answer(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    for (const watch of watches.splice(0)) watch.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const groupOf = (family: Family): UpstreamGroup => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const group = createUpstreamGroup({ family, urls: [url] });
    for (const member of group.members) group.report(member, "serving");
    return group;
  };
  const start = (options: { group?: UpstreamGroup; serviceToken?: string; intervalMs?: number } = {}) => {
    const { group = groupOf("evm-dex"), ...more } = options;
    const groups = new Map([[group.family, group]]);
    const log = createLog({ name: "gateway", level: "silent" });
    const watch = new LiveExampleWatch({ catalogue, groups, log, firstMs: 5, intervalMs: 20, ...more });
    watches.push(watch);
    watch.start();
    return { watch, group };
  };
  const json =
    (body: unknown): Answer =>
    (_req, res) =>
      void res.end(JSON.stringify(body));

  it("are what the service returns to a request with its token", async () => {
    answer = json({ [POOL]: GOOD });
    const { watch } = start({ serviceToken: "t".repeat(32) });
    expect(watch.current().examples).to.deep.equal({});
    await until(() => watch.current().examples[POOL] !== undefined);
    expect(watch.current().examples).to.deep.equal({ [POOL]: GOOD });
    expect(seen[0]?.url).to.equal("/internal/examples");
    expect(seen[0]?.headers.authorization).to.equal(`Bearer ${"t".repeat(32)}`);
  });

  it("are only those that this gateway would accept, of this family's endpoints", async () => {
    answer = json({
      [POOL]: GOOD,
      "/no/such/path": GOOD,
      "/api/v1/solana/tokens": { filter: "x" },
      "/evm/dexb/v3/pools": { ...GOOD, limit: "0" },
      "/evm/dexa/v3/pool": { ...GOOD, no_such_parameter: "<script>" },
      "/evm/clones/v3/pool": { ...GOOD, pool_address: "<script>alert(1)</script>" },
      "/evm/dexa/v2/pool": { ...GOOD, apr_days_annualized: 7 },
      "/evm/dexes": null,
    });
    const { watch } = start();
    await until(() => Object.keys(watch.current().examples).length > 0);
    expect(Object.keys(watch.current().examples)).to.deep.equal([POOL]);
  });

  it("stay while the service is unreachable or returns something else, and go when it has none any more", async () => {
    answer = json({ [POOL]: GOOD });
    const { watch, group } = start();
    await until(() => watch.current().examples[POOL] !== undefined);
    const live = watch.current();
    const broken: Answer[] = [
      (_req, res) => void res.writeHead(500).end("{}"),
      (_req, res) => void res.end("not JSON"),
      (_req, res) => void res.end("[1"),
      json(null),
      (_req, res) => void res.end(`"${"x".repeat(400_000)}"`),
      (req) => void req.socket.destroy(),
    ];
    for (const one of broken) {
      answer = one;
      const before = seen.length;
      await until(() => seen.length > before + 1);
      expect(watch.current()).to.equal(live);
    }
    const [member] = group.members;
    if (member !== undefined) group.report(member, "not_serving");
    answer = json({});
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(watch.current(), "no replica receives a request").to.equal(live);
    if (member !== undefined) group.report(member, "serving");
    await until(() => watch.current() !== live);
    expect(watch.current().examples).to.deep.equal({});
  });

  it("are requested soon again while missing, and then at the interval", async () => {
    let count = 0;
    answer = (req, res) => {
      count += 1;
      json(count < 4 ? {} : { [POOL]: GOOD })(req, res);
    };
    const { watch } = start({ intervalMs: 60_000 });
    await until(() => watch.current().examples[POOL] !== undefined);
    expect(count).to.equal(4);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(count).to.equal(4);
  });

  it("make a document once, and again only when they have changed", async () => {
    answer = json({ [POOL]: GOOD });
    const { watch } = start();
    let made = 0;
    const document = onceFor(
      () => watch.current(),
      (examples) => {
        made += 1;
        return Object.keys(examples);
      },
    );
    expect([document(), document()]).to.deep.equal([[], []]);
    expect(made).to.equal(1);
    await until(() => watch.current().examples[POOL] !== undefined);
    expect(document()).to.deep.equal([POOL]);
    // The same examples, received again, give the same document.
    await until(() => seen.length > 5);
    document();
    expect(made).to.equal(2);
  });
});
