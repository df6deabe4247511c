import { expect } from "chai";
import { describe, it } from "mocha";
import { ServiceError } from "../../services/shared/errors.ts";
import { catalogue } from "../catalogue.ts";
import { parseEventId, toEvent, toEventId } from "./event.ts";
import { readLiveRequest, wantsEvents } from "./live-request.ts";
import { StreamPlaces } from "./stream-limits.ts";

const wants = (accept?: string) => wantsEvents({ headers: accept === undefined ? {} : { accept } });

describe("requests for live streams", () => {
  it("name text/event-stream in Accept", () => {
    for (const accept of [
      "text/event-stream",
      "Text/Event-Stream;q=0.5".toLowerCase(),
      "application/json, text/event-stream; charset=utf-8",
    ])
      expect(wants(accept), accept).to.equal(true);
    for (const accept of [
      undefined,
      "",
      "*/*",
      "application/json",
      "text/event-stream;q=0",
      "text/event-streams",
    ])
      expect(wants(accept), accept).to.equal(false);
  });

  it("name a table that can change: not one of a block, or of later pages of new rows", () => {
    const read = (path: string, query: string) => {
      const endpoint = catalogue.find((each) => each.path === path);
      if (endpoint === undefined) throw new Error(`No endpoint ${path}`);
      return readLiveRequest(endpoint, query).table;
    };
    const tokens = `tokens=0x${"a".repeat(40)}`;
    expect(read("/evm/prices", `${tokens}&chain_id=1`)).to.include({ chain: 1 });
    for (const asOf of ["at_block=7", "at_time=1795000000"])
      for (const [path, query] of [
        ["/evm/prices", tokens],
        ["/evm/dexb/v3/pool", `pool_address=0x${"ab".repeat(20)}`],
      ] as const)
        expect(() => read(path, `${query}&${asOf}`))
          .to.throw(ServiceError, `Leave out ${asOf.split("=")[0]}`)
          .with.property("code", "bad_request");
    const trades = `token_address=${"1".repeat(32)}&days=1`;
    expect(read("/api/v1/solana/token-transactions", trades)).to.include({ chain: 0 });
    expect(() => read("/api/v1/solana/token-transactions", `${trades}&offset=5`)).to.throw(
      "offset must be 0",
    );
    expect(() => read("/evm/chains", "")).to.throw("no live form");
  });

  it("resume by ids that are read as they were written", () => {
    const head = {
      chain: 0,
      block: 250_000_000,
      hash: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
      time: 1,
    };
    const id = toEventId(head, 'W/"a-b_c0"');
    expect(id).to.equal("0-250000000-9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin-a-b_c0");
    expect(parseEventId(id)).to.deep.equal({ chain: 0, block: 250_000_000, hash: head.hash, tag: "a-b_c0" });
    for (const text of [undefined, "", "8453-1", "x-1-0xa-b", `${id}\nevent: x`, `1-${"9".repeat(17)}-0xa-b`])
      expect(parseEventId(text)).to.equal(undefined);
  });

  it("events are one line of data, whatever a table holds", () => {
    const text = toEvent("change", { rows: [["a\n\nevent: end\rdata: {}"]] }, "1-2-0xa-b").toString();
    expect(text.split("\n").length).to.equal(5);
    expect(text).to.match(/^id: 1-2-0xa-b\nevent: change\ndata: \{.*\}\n\n$/);
  });

  it("take places by key and in all, and give each back once", () => {
    const places = new StreamPlaces({ maxStreams: 3, maxStreamsPerKey: 2 });
    const give = places.take("a");
    places.take("a");
    expect(() => places.take("a")).to.throw(/with this key: the limit is 2/);
    places.take("b");
    expect(() => places.take("b")).to.throw(/at this gateway: the limit is 3/);
    give();
    give();
    expect(places.count).to.equal(2);
    places.take("b");
    expect(() => places.take("c")).to.throw(/at this gateway/);
  });
});
