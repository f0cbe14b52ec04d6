import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startHostProcess } from "./host-process.ts";

/** Between two parts of a request, so that they don't travel together. */
const PAUSE_MS = 50;

/** Sends a request in parts, and returns all that comes until the host closes the connection. */
async function sendInParts(url: string, parts: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  const answer = text(socket);
  for (const part of parts) {
    socket.write(part);
    await delay(PAUSE_MS);
  }
  return answer;
}

const END = "Host: a.test\r\nConnection: close\r\n";
const BODY = `${END}Content-Length: 5\r\n\r\n`;

test("a request that comes in parts is read as one that comes at once", async () => {
  const { url } = await startHostProcess();
  for (const parts of [
    [`POST /api/echo HTTP/1.1\r\n${BODY}`, "hello"],
    ["PO", `ST /api/echo HTTP/1.1\r\n${BODY}hel`, "lo"],
  ]) {
    const answer = await sendInParts(url, parts);
    expect(answer, parts.join("|")).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"method":"POST"');
    expect(answer).toContain('"body":"aGVsbG8="');
  }
});

test("what is no request is refused before its line ends", async () => {
  const { url } = await startHostProcess();
  // The first bytes of a TLS connection.
  const answer = await sendInParts(url, ["\u0016\u0003\u0001"]);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});
