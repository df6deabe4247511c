import type { Row } from "./types.ts";

export interface View {
  readonly title: string;
  readonly node: Node;
  /** Asks again; what fails is shown in the view itself. */
  readonly refresh?: () => Promise<void>;
}

/** A part of a view: a node, and how it takes the next answer. */
export interface Part {
  readonly node: HTMLElement;
  update(rows: readonly Row[]): void;
}
