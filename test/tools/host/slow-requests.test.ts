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

test("a body that comes with fewer than 240 bytes a second ends after five, and a faster one is read", async () => {
  const { url } = await startHostProcess();
  const head = `POST /api/echo HTTP/1.1\r\n${END}Content-Length: 13000\r\n\r\n`;
  const unread = `POST /api/nowhere HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2000\r\n\r\n`;
  const dripped = (bytes: number) => Array.from({ length: 130 }, () => "x".repeat(bytes));
  const [slow, fast, left] = await Promise.all([
    // About 20 and 2,000 bytes a second, for some seven seconds: a busy machine sends a part late. Both connections end once
    // they are answered.
    sendInParts(url, [head, ...dripped(1)]),
    sendInParts(url, [head, ...dripped(100)]),
    sendInParts(url, [unread]),
  ]);
  expect(slow).toMatch(/^HTTP\/1\.1 500 .*\r\nConnection: close\r\n/s);
  expect(fast).toMatch(/^HTTP\/1\.1 200 /);
  expect(left).toMatch(/^HTTP\/1\.1 404 /);
});

test("a length next to chunks counts for nothing, and neither does an unknown version", async () => {
  const { url } = await startHostProcess();
  const chunks = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  const answer = await sendInParts(url, [`POST /api/echo HTTP/1.1\r\n${END}${chunks}`]);
  expect(answer).toContain('"x-content-length":"3"');
  expect(answer).toContain('"body":""');
  expect(await sendInParts(url, [`GET /api/echo HTTP/1.2\r\n${END}\r\n`])).toMatch(
    /^HTTP\/1\.1 505 /,
  );
});
