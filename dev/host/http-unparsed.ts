import { METHODS, STATUS_CODES } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { REQUEST_LINE_BYTES_MAX } from "./http-request.ts";
import { SERVER } from "./http-response.ts";

const KNOWN = new Set(METHODS);
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+ HTTP\/1\.[01]\r?\n)/;

/**
 * Answers what Node can't parse as the Functions host would: a method in lower case like the same in upper case, one that
 * nobody knows with a bare 404, too long a head with 414 or 431, and all else with 400.
 */
export function answerUnparsed(
  error: Error & { readonly code?: string; readonly rawPacket?: Buffer },
  socket: Socket,
  address: AddressInfo | null,
): void {
  if (!socket.writable) return void socket.destroy();
  const { code, rawPacket = Buffer.alloc(0) } = error;
  const text = rawPacket.toString("latin1");
  if (code === "HPE_HEADER_OVERFLOW") return sendBare(socket, endsLate(text) ? 414 : 431);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return sendBare(socket, 408);
  const [, method, rest] = REQUEST_LINE.exec(text) ?? [];
  if (code !== "HPE_INVALID_METHOD" || method === undefined || rest === undefined)
    return sendBare(socket, 400);
  const upper = method.toUpperCase();
  if (!KNOWN.has(upper) || address === null) return sendBare(socket, 404);
  const again = connect(address.port, address.address);
  again.on("error", () => socket.destroy());
  again.write(`${upper}${text.slice(method.length)}`, "latin1");
  again.pipe(socket);
  socket.once("close", () => again.destroy());
}

/** Whether the first line is longer than a request line may be. */
function endsLate(text: string): boolean {
  const end = text.indexOf("\n");
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
