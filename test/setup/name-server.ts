import { createSocket } from "node:dgram";
import { once } from "node:events";

/** What a name server says of a name: addresses, an alias of one, an error, or nothing at all. */
export type NameAnswer =
  | { readonly a?: readonly string[]; readonly aaaa?: readonly string[]; readonly alias?: string }
  | "nxdomain"
  | "servfail"
  | "refused"
  | "silence";

const CODES = { nxdomain: 3, servfail: 2, refused: 5 } as const;
const A = 1;
const AAAA = 28;
const CNAME = 5;

function encodeName(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  const parts = labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function decodeName(
  message: Buffer,
  start: number,
): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

/** Encodes an IPv6 address that is written in full, with eight groups. */
const encodeV6 = (address: string) =>
  Buffer.from(
    address
      .split(":")
      .map((group) => group.padStart(4, "0"))
      .join(""),
    "hex",
  );
const encodeV4 = (address: string) => Buffer.from(address.split(".").map(Number));

function recordsOf(name: string, type: number, answer: NameAnswer): Buffer[] {
  if (typeof answer === "string") return [];
  const { a = [], aaaa = [], alias } = answer;
  const of = alias ?? name;
  const aliases = alias === undefined ? [] : [record(name, CNAME, encodeName(alias))];
  if (type === A) return [...aliases, ...a.map((one) => record(of, A, encodeV4(one)))];
  if (type === AAAA) return [...aliases, ...aaaa.map((one) => record(of, AAAA, encodeV6(one)))];
  return aliases;
}

export interface NameServer {
  /** As the setting `OUTBOUND_NAME_SERVERS` has it. */
  readonly address: string;
  /** The names that were asked for, in their order; one that is asked for twice is in it twice. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** Starts a name server on loopback. `answerOf` may answer differently each time, and for each type of address. */
export async function startNameServer(
  answerOf: (name: string, family: 4 | 6) => NameAnswer,
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, { address, port }) => {
    const { name, end } = decodeName(message, 12);
    const type = message.readUInt16BE(end);
    asked.push(name);
    const answer = answerOf(name, type === AAAA ? 6 : 4);
    if (answer === "silence") return;
    const records = recordsOf(name, type, answer);
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    const code = typeof answer === "string" ? CODES[answer] : 0;
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const question = message.subarray(12, end + 4);
    socket.send(Buffer.concat([header, question, ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
