/** The frames of MongoDB's protocol: OP_MSG, and OP_QUERY for the first hello of a connection. */
import { createServer, type Server, type Socket } from "node:net";
import { BSON } from "mongodb";
import type { Doc } from "./documents.ts";

const OP_MSG = 2013;
const OP_QUERY = 2004;
const OP_REPLY = 1;
const MORE_TO_COME = 2;
const EXHAUST_ALLOWED = 1 << 16;

export type Answer = (command: Doc, socket: Socket) => Promise<Doc>;

export function serve(answer: Answer): Server {
  return createServer((socket) => {
    socket.setNoDelay(true);
    socket.on("error", () => {});
    let pending: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const size = pending.readInt32LE(0);
        void reply(socket, { message: pending.subarray(0, size), answer });
        pending = pending.subarray(size);
      }
    });
  });
}

async function reply(
  socket: Socket,
  { message, answer }: { message: Buffer; answer: Answer },
): Promise<void> {
  const opcode = message.readInt32LE(12);
  const flags = opcode === OP_MSG ? message.readUInt32LE(16) : 0;
  const command = opcode === OP_QUERY ? parseQuery(message) : parseMessage(message);
  // A monitor's hello: one question, and an answer for each change from then on.
  const streams = (flags & EXHAUST_ALLOWED) !== 0 && command.maxAwaitTimeMS !== undefined;
  for (let answered = message.readInt32LE(4), id = 1; ; answered = id++) {
    const doc = await answer(command, socket);
    if ((flags & MORE_TO_COME) !== 0 || socket.destroyed) return;
    socket.write(frame(doc, { opcode, id, answered, flags: streams ? MORE_TO_COME : 0 }));
    if (!streams) return;
    command.topologyVersion = doc.topologyVersion;
  }
}

function frame(
  doc: Doc,
  { opcode, id, answered, flags }: { opcode: number; id: number; answered: number; flags: number },
): Buffer {
  const body = Buffer.from(BSON.serialize(doc));
  const head = Buffer.alloc(opcode === OP_MSG ? 21 : 36);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(answered, 8);
  head.writeInt32LE(opcode === OP_MSG ? OP_MSG : OP_REPLY, 12);
  if (opcode === OP_MSG) head.writeUInt32LE(flags, 16);
  else head.writeInt32LE(1, 32);
  return Buffer.concat([head, body]);
}

function parseQuery(message: Buffer): Doc {
  const body = message.indexOf(0, 20) + 9;
  return parse(message.subarray(body, body + message.readInt32LE(body)));
}

/** The body, and sequences of documents under their names. */
function parseMessage(message: Buffer): Doc {
  const command: Doc = {};
  for (let at = 20; at < message.length; ) {
    const kind = message[at++];
    const size = message.readInt32LE(at);
    if (kind === 0) Object.assign(command, parse(message.subarray(at, at + size)));
    else {
      const name = message.toString("utf8", at + 4, message.indexOf(0, at + 4));
      const docs: Doc[] = [];
      for (let from = at + 5 + name.length; from < at + size; from += message.readInt32LE(from))
        docs.push(parse(message.subarray(from, from + message.readInt32LE(from))));
      command[name] = docs;
    }
    at += size;
  }
  return command;
}

const parse = (bytes: Buffer): Doc => BSON.deserialize(bytes) as Doc;
