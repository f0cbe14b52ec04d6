import { once } from "node:events";
import { METHODS, STATUS_CODES } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { PassThrough } from "node:stream";
import { REQUEST_LINE_BYTES_MAX } from "./http-request.ts";
import { SERVER } from "./http-response.ts";

const KNOWN = new Set(METHODS);
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+ HTTP\/1\.[01]\r?\n)/;
const METHOD = /^[!#$%&'*+.^_`|~\w-]+(?: |$)/;
/** A method that Node can read and no function of this app may have: it stands for those that Node can't. */
const NOBODY_HAS = "UNLINK";

type ParserError = Error & {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

interface Unparsed {
  readonly error: ParserError;
  readonly socket: Socket;
  /** Of this server; null when it listens no more. */
  readonly address: AddressInfo | null;
  /** Resolves when the requests that came before on the same connection are answered. */
  readonly answered: () => Promise<unknown>;
}

/** Connections that Node's parser has given up and that are read here; whether their request was sent again. */
const taken = new WeakMap<Socket, { isSent: boolean }>();

/**
 * Answers what Node can't parse as the Functions host would: a method in lower case like the same in upper case, one that
 * nobody knows like one that no function has, too long a head with 414 or 431, and all else with 400.
 */
export function answerUnparsed({ error, socket, address, answered }: Unparsed): void {
  const { code, rawPacket = Buffer.alloc(0), bytesParsed = 0 } = error;
  const isLate = code === "ERR_HTTP_REQUEST_TIMEOUT";
  const known = taken.get(socket);
  if (known !== undefined && (known.isSent || !isLate)) return;
  if (!socket.writable) return void socket.destroy();
  if (code === "HPE_HEADER_OVERFLOW") return sendBare(socket, endsLate(rawPacket) ? 414 : 431);
  if (isLate) return sendBare(socket, 408);
  if (code !== "HPE_INVALID_METHOD" || address === null) return sendBare(socket, 400);
  taken.set(socket, { isSent: false });
  socket.removeAllListeners("data");
  socket.removeAllListeners("end");
  const rest = new PassThrough();
  rest.write(rawPacket.subarray(startOfMethod(rawPacket, bytesParsed)));
  // From here on Node gives what comes to this stream, and no longer to its parser.
  socket.pipe(rest);
  socket.once("close", () => rest.destroy());
  void answered().then(() => sendAgain(socket, rest, address));
}

/** Where the method begins at which the parser stopped: it may have read some of its letters already. */
function startOfMethod(packet: Buffer, stop: number): number {
  const before = /[A-Z-]*$/.exec(packet.toString("latin1", 0, stop))?.[0] ?? "";
  return stop - before.length;
}

/** Sends the rest of a connection to this server once more, with a method that Node can read. */
async function sendAgain(socket: Socket, rest: PassThrough, address: AddressInfo): Promise<void> {
  const read = await readLine(rest);
  if (!socket.writable) return void socket.destroy();
  if (read === undefined) return sendBare(socket, 414);
  const text = read.toString("latin1");
  const [, method, afterMethod] = REQUEST_LINE.exec(text) ?? [];
  if (method === undefined || afterMethod === undefined) return sendBare(socket, 400);
  taken.set(socket, { isSent: true });
  const upper = method.toUpperCase();
  const again = connect(address.port, address.address);
  again.on("error", () => socket.destroy());
  again.write(`${KNOWN.has(upper) ? upper : NOBODY_HAS}${text.slice(method.length)}`, "latin1");
  rest.pipe(again).pipe(socket);
  socket.once("close", () => again.destroy());
}

/** Returns what came up to the first end of a line, or up to where it can't be one; undefined when it is too long. */
async function readLine(rest: PassThrough): Promise<Buffer | undefined> {
  let read = Buffer.alloc(0);
  while (!read.includes("\n")) {
    if (read.length > 0 && !METHOD.test(read.toString("latin1"))) return read;
    if (read.length > REQUEST_LINE_BYTES_MAX) return undefined;
    if (rest.readableLength === 0) {
      if (rest.writableEnded || rest.destroyed) return read;
      await Promise.race([once(rest, "readable"), once(rest, "close")]);
    }
    const chunk = rest.read() as Buffer | null;
    if (chunk !== null) read = Buffer.concat([read, chunk]);
  }
  return read;
}

/** Whether the first line is longer than a request line may be. */
function endsLate(packet: Buffer): boolean {
  const end = packet.indexOf("\n");
  return end === -1 || end > REQUEST_LINE_BYTES_MAX;
}

function sendBare(socket: Socket, status: number): void {
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Content-Length: 0",
      "Connection: close",
      `Date: ${new Date().toUTCString()}`,
      `Server: ${SERVER}`,
      "\r\n",
    ].join("\r\n"),
  );
}
