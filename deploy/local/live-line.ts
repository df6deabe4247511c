import type { LiveNotice } from "../../services/shared/ingest/live-notice.ts";
import type { Environment } from "../../services/shared/settings/settings.ts";

/** A terminal, or what stands for one in tests. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const CLEAR = "\r\u001b[2K";
const COLOURS: Readonly<Record<LiveNotice["mood"], string>> = {
  following: "32",
  working: "33",
  failing: "31",
};
const DEFAULT_COLUMNS = 80;
const SEPARATOR = " │ ";
/** Where not all chains fit, each in turn is the first for so long. */
const TURN_MS = 3_000;

/**
 * One line at the bottom of a terminal that says of each chain where it is, while all other lines scroll above it. Where
 * the output is no terminal there is no such line, and nothing but what is said is written.
 */
export class LiveLine {
  readonly #terminal: Terminal;
  readonly #hasColours: boolean;
  readonly #now: () => number;
  readonly #chains = new Map<string, LiveNotice>();
  #isOpen: boolean;
  #isShown = false;

  constructor(
    terminal: Terminal,
    env: Environment = process.env,
    now: () => number = () => performance.now(),
  ) {
    this.#terminal = terminal;
    this.#now = now;
    const isDumb = env.TERM === "dumb";
    this.#isOpen = terminal.isTTY === true && !isDumb;
    // https://no-color.org: set to anything but nothing.
    this.#hasColours = !env.NO_COLOR && env.FORCE_COLOR !== "0";
  }

  /** Whether chains are shown: then they need no lines of their own. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  show(notice: LiveNotice): void {
    if (!this.#isOpen) return;
    this.#chains.set(notice.chain, notice);
    this.#draw();
  }

  /** The ingest of these chains is gone: what it said last is no longer so. */
  forget(chains: Iterable<string>): void {
    for (const chain of chains) this.#chains.delete(chain);
    if (this.#isShown) this.#draw();
  }

  /** A line that stays. */
  say(line: string): void {
    this.around(() => this.#terminal.write(`${line}\n`));
  }

  /** Lets something else write whole lines to the same terminal. */
  around(write: () => void): void {
    this.#clear();
    write();
    if (this.#isOpen && this.#chains.size > 0) this.#draw();
  }

  /** From here on nothing is shown but what is said. */
  close(): void {
    this.#clear();
    this.#isOpen = false;
  }

  #clear(): void {
    if (this.#isShown) this.#terminal.write(CLEAR);
    this.#isShown = false;
  }

  /** The cursor stays at the beginning: what others write there begins a line. */
  #draw(): void {
    this.#terminal.write(`${CLEAR}${this.#text()}\r`);
    this.#isShown = true;
  }

  /** As wide as the terminal at most: a line that wraps could not be taken back. */
  #text(): string {
    // A resized terminal has another width by the next second.
    let left = (this.#terminal.columns || DEFAULT_COLUMNS) - 1;
    const notices = [...this.#chains.values()];
    const wanted = notices.map(({ chain, text }) => `${chain} ${text}`).join(SEPARATOR);
    const turn = [...wanted].length <= left ? 0 : Math.floor(this.#now() / TURN_MS) % notices.length;
    let line = "";
    for (const { chain, mood, text } of [...notices.slice(turn), ...notices.slice(0, turn)]) {
      const whole = [...`${line === "" ? "" : SEPARATOR}${chain} ${text}`];
      const shown = whole.length <= left ? whole : [...whole.slice(0, Math.max(0, left - 1)), "…"];
      line += this.#paint(shown.join(""), mood);
      left -= shown.length;
      if (left <= 0 || shown.length < whole.length) break;
    }
    return line;
  }

  #paint(text: string, mood: LiveNotice["mood"]): string {
    return this.#hasColours ? `\u001b[${COLOURS[mood]}m${text}\u001b[0m` : text;
  }
}
