/**
 * Counts responses on a kept-alive connection with as little work as possible: a client that costs more than the
 * server would measure itself. Responses must carry a Content-Length.
 */
export class AnswerScanner {
  /** Answers whose status was not 200. */
  refused = 0;
  #begun: Buffer | undefined;
  #bodyLeft = 0;

  /** How many answers end in this chunk. */
  read(chunk: Buffer): number {
    let bytes = chunk;
    let at = 0;
    let ended = 0;
    if (this.#bodyLeft > 0) {
      at = Math.min(this.#bodyLeft, bytes.length);
      this.#bodyLeft -= at;
      if (this.#bodyLeft > 0) return 0;
      ended = 1;
    } else if (this.#begun !== undefined) {
      bytes = Buffer.concat([this.#begun, chunk]);
      this.#begun = undefined;
    }
    while (at < bytes.length) {
      const end = bytes.indexOf("\r\n\r\n", at, "latin1");
      if (end === -1) {
        // A copy: the next read comes into the same memory.
        this.#begun = Buffer.from(bytes.subarray(at));
        return ended;
      }
      const bodyEnd = end + 4 + this.#lengthOf(bytes, at, end);
      if (bodyEnd > bytes.length) {
        this.#bodyLeft = bodyEnd - bytes.length;
        return ended;
      }
      ended += 1;
      at = bodyEnd;
    }
    return ended;
  }

  #lengthOf(bytes: Buffer, start: number, end: number): number {
    // "HTTP/1.1 200": the status begins at the ninth character.
    if (bytes[start + 9] !== 50 || bytes[start + 10] !== 48 || bytes[start + 11] !== 48) this.refused += 1;
    const name = bytes.indexOf("ontent-Length: ", start, "latin1");
    if (name === -1 || name > end)
      throw new Error(`An answer has no length: ${bytes.toString("latin1", start, end)}`);
    let length = 0;
    for (let at = name + 15; bytes[at] !== 13; at += 1) length = length * 10 + (bytes[at] as number) - 48;
    return length;
  }
}
