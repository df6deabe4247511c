import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cell } from "../../services/shared/contract/column.ts";
import type { BlockRef, LiveHead } from "../../services/shared/grpc/types.ts";
import { type FakeUpstream, mediaTypeOf } from "./upstream.ts";

/** A chain of a fake service, and the rows that it answers with at its head. */
export class LiveTable {
  readonly #upstream: FakeUpstream;
  readonly #chainId: number;
  #blocks: BlockRef[] = [];
  rows: (readonly Cell[])[] = [];
  /** Changes with prices, as lending's does. */
  version = "1";
  /** How many tables were asked for. */
  asked = 0;

  constructor(upstream: FakeUpstream, { chainId = 8453, block = 100 } = {}) {
    this.#upstream = upstream;
    this.#chainId = chainId;
    for (let at = block - 3; at <= block; at += 1) this.#blocks.push({ block: at, hash: `0xa${at}` });
    upstream.answer = (req, res) => this.#answer(req, res);
    this.tell();
  }

  get head(): LiveHead {
    const { block, hash } = this.#blocks.at(-1) as BlockRef;
    const [time, recent] = [1_000_000 + block, this.#blocks.slice(-64)];
    return { chainId: this.#chainId, block, hash, time, version: this.version, recent };
  }

  /** The next block, with these rows. */
  mine(rows: readonly (readonly Cell[])[] = this.rows, fork = "a"): void {
    const block = this.head.block + 1;
    this.#blocks.push({ block, hash: `0x${fork}${block}` });
    this.rows = [...rows];
    this.tell();
  }

  /** Takes back so many blocks; nothing is told of it before the next block. */
  takeBack(count: number): void {
    this.#blocks = this.#blocks.slice(0, -count);
  }

  /** Tells of the head as it is. */
  tell(): void {
    this.#upstream.tellHead(this.head);
  }

  #answer({ url = "" }: IncomingMessage, res: ServerResponse): void {
    this.asked += 1;
    const { block, hash, time, version } = this.head;
    const { searchParams, pathname } = new URL(url, "http://service");
    const offset = Number(searchParams.get("offset") ?? 0);
    const limit = Number(searchParams.get("limit") ?? 100);
    const table = { columns: [], data: this.rows.slice(offset, offset + limit), rows: 0 };
    searchParams.set("offset", String(offset + limit));
    const isLast = offset + limit >= this.rows.length;
    res.writeHead(200, {
      "Content-Type": mediaTypeOf(url),
      ETag: `W/"${block}-${hash}-${version}"`.replace("0x", "x"),
      "Cache-Control": "private, max-age=3600",
      "X-Data-Block": block,
      "X-Data-Block-Hash": hash,
      "X-Data-As-Of": new Date(time * 1000).toISOString(),
      ...(!isLast && { Link: `<${pathname}?${searchParams}>; rel="next"` }),
    });
    res.end(JSON.stringify(pathname.startsWith("/api/") ? table : [table]));
  }
}
