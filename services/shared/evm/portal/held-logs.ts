interface Piece {
  logs: number;
  isInUse: boolean;
}

/**
 * Logs of pieces that are read at once, by the pieces' first blocks, until they are used. Past a limit only the piece that is
 * used next goes on: others wait with what they have, and the portal with the rest.
 */
export class HeldLogs {
  readonly #most: number;
  readonly #pieces = new Map<number, Piece>();
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Of a piece that is begun again, what came before is forgotten. */
  begin(piece: number): void {
    this.#pieces.set(piece, { logs: 0, isInUse: false });
    this.#wake();
  }

  /** So many have come; resolves when more may be read. Rejects with the signal's reason. */
  async add(piece: number, logs: number, signal: AbortSignal): Promise<void> {
    const held = this.#pieces.get(piece) as Piece;
    held.logs += logs;
    while (!this.#hasRoom(piece)) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const goOn = () => {
          signal.removeEventListener("abort", goOn);
          resolve();
        };
        signal.addEventListener("abort", goOn);
        this.#waiting.push(goOn);
      });
    }
  }

  /** The piece is whole, and its logs are being used. */
  use(piece: number): void {
    (this.#pieces.get(piece) as Piece).isInUse = true;
    this.#wake();
  }

  /** They were used. */
  drop(piece: number): void {
    this.#pieces.delete(piece);
    this.#wake();
  }

  #wake(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  #hasRoom(piece: number): boolean {
    let held = 0;
    let isNext = true;
    for (const [other, { logs, isInUse }] of this.#pieces) {
      held += logs;
      if (!isInUse && other < piece) isNext = false;
    }
    return isNext || held <= this.#most;
  }
}
