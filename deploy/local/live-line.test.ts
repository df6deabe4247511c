import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { LiveNotice } from "../../services/shared/ingest/live-notice.ts";
import { LiveLine } from "./live-line.ts";

/** What a terminal shows: lines that have scrolled, and the last one, which carriage returns write over. */
class Screen {
  readonly isTTY: boolean;
  columns: number | undefined;
  raw = "";
  #cells: string[] = [];
  #at = 0;
  readonly lines: string[] = [];

  constructor({ isTTY = true, columns = 80 }: { isTTY?: boolean; columns?: number | undefined } = {}) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  get last(): string {
    return this.#cells.join("").trimEnd();
  }

  write(text: string): void {
    this.raw += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is made of them
    for (const piece of text.match(/\u001b\[\d*[mK]|[^\u001b]/gu) ?? []) {
      if (piece.endsWith("K") && piece.length > 1) this.#cells = [];
      else if (piece === "\r") this.#at = 0;
      else if (piece === "\n") {
        this.lines.push(this.last);
        [this.#cells, this.#at] = [[], 0];
      } else if (!piece.startsWith("\u001b")) {
        for (let at = this.#cells.length; at < this.#at; at++) this.#cells[at] = " ";
        this.#cells[this.#at++] = piece;
      }
    }
  }
}

const notice = (chain: string, text: string, mood: LiveNotice["mood"] = "following"): LiveNotice => ({
  kind: "live",
  ...{ chain, text, mood },
});

describe("LiveLine", () => {
  it("changes in place, and lets lines scroll above it", () => {
    const screen = new Screen();
    const live = new LiveLine(screen, {});
    live.say("It starts.");
    live.show(notice("Base", "1,577 · 2 s behind"));
    live.show(notice("Solana", "35 % · 10 s left", "working"));
    expect(screen.last).to.equal("Base 1,577 · 2 s behind │ Solana 35 % · 10 s left");
    live.say("warn: an endpoint fails");
    live.show(notice("Base", "1,578 · 0 s behind"));
    live.around(() => screen.write("a banner\nof two lines\n"));
    expect(screen.lines).to.deep.equal(["It starts.", "warn: an endpoint fails", "a banner", "of two lines"]);
    expect(screen.last).to.equal("Base 1,578 · 0 s behind │ Solana 35 % · 10 s left");
    live.forget(["Solana"]);
    expect(screen.last).to.equal("Base 1,578 · 0 s behind");
    live.close();
    live.show(notice("Base", "1,579"));
    live.say("Stopped.");
    expect([screen.lines.at(-1), screen.last]).to.deep.equal(["Stopped.", ""]);
  });

  it("is not there where the output is no terminal, or one that cannot go back: each line is plain", () => {
    for (const [screen, env] of [
      [new Screen({ isTTY: false }), {}],
      [new Screen(), { TERM: "dumb" }],
    ] as const) {
      const live = new LiveLine(screen, env);
      expect(live.isOpen).to.equal(false);
      live.show(notice("Base", "1,577"));
      live.say("Base head");
      live.around(() => screen.write("a banner\n"));
      live.close();
      expect(screen.raw).to.equal("Base head\na banner\n");
    }
  });

  it("has a colour for each mood, and none where none is wanted", () => {
    const rawOf = (env: Record<string, string>, mood: LiveNotice["mood"]) => {
      const screen = new Screen();
      new LiveLine(screen, env).show(notice("Base", "1,577", mood));
      return screen.raw;
    };
    const codes = (["following", "working", "failing"] as const).map((mood) => rawOf({}, mood));
    expect(codes).to.deep.equal(
      ["32", "33", "31"].map((code) => `\r\u001b[2K\u001b[${code}mBase 1,577\u001b[0m\r`),
    );
    const plain = "\r\u001b[2KBase 1,577\r";
    expect(rawOf({ NO_COLOR: "1" }, "failing")).to.equal(plain);
    expect(rawOf({ FORCE_COLOR: "0" }, "failing")).to.equal(plain);
    // As no-color.org has it, an empty value wants nothing.
    expect(rawOf({ NO_COLOR: "" }, "failing")).to.contain("\u001b[31m");
  });

  it("is never wider than its terminal, whatever the chains say", () => {
    const chains = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ unit: "grapheme-ascii" })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(chains, fc.integer({ min: 2, max: 200 }), (told, columns) => {
        const screen = new Screen({ columns });
        const live = new LiveLine(screen, { NO_COLOR: "1" });
        for (const [chain, text] of told) live.show(notice(chain, text));
        expect([...screen.last].length).to.be.below(columns);
        expect(screen.lines).to.deep.equal([]);
      }),
    );
    const narrow = new Screen({ columns: 16 });
    new LiveLine(narrow, {}).show(notice("Base", "1,577 · 2 s behind"));
    expect(narrow.last).to.equal("Base 1,577 · 2…");
  });

  it("begins with each chain in turn where not all of them fit", () => {
    const screen = new Screen({ columns: 24 });
    let nowMs = 0;
    const live = new LiveLine(screen, {}, () => nowMs);
    const firstAt = (ms: number) => {
      nowMs = ms;
      for (const [chain, block] of [
        ["Base", "1,577 · 2 s behind"],
        ["Solana", "300 · 0 s behind"],
      ] as const)
        live.show(notice(chain, block));
      return screen.last;
    };
    expect([0, 2_999, 3_000, 6_000].map(firstAt)).to.deep.equal([
      "Base 1,577 · 2 s behind",
      "Base 1,577 · 2 s behind",
      "Solana 300 · 0 s behind",
      "Base 1,577 · 2 s behind",
    ]);
    screen.columns = 80;
    expect(firstAt(3_000)).to.equal("Base 1,577 · 2 s behind │ Solana 300 · 0 s behind");
  });
});
