import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { BODY_LIMITS, BodyReader, type BodyLimits } from "../../dev/host/http-body.ts";

/** A server that answers with the length of each body, or with the status that refuses it. */
async function serve(limits: Partial<BodyLimits>): Promise<number> {
  const reader = new BodyReader({ ...BODY_LIMITS, ...limits });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await reader.read(request).catch(() => 499);
    response.writeHead(typeof body === "number" ? body : 200, { connection: "close" });
    response.end(typeof body === "number" ? "" : String(body.length));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function send(
  port: number,
  length: number,
  sent: string,
): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${length}\r\n\r\n${sent}`);
  return { socket, answer: text(socket) };
}

test("a body that comes too slowly is refused with 408", async () => {
  const port = await serve({ graceMs: 50 });
  const { answer: late } = await send(port, 100, "x");
  expect(await late).toMatch(/^HTTP\/1\.1 408 /);
});

test("a body that comes fast enough is read, however long it takes", async () => {
  const port = await serve({ graceMs: 50, bytesPerSecondMin: 0.1 });
  const { socket, answer } = await send(port, 3, "x");
  for (const piece of ["y", "z"])
    await new Promise<void>((resolve) => {
      setTimeout(() => socket.write(piece, () => resolve()), 80);
    });
  expect(await answer).toMatch(/\r\n\r\n.*3/s);
});

test("the oldest of too many unfinished bodies makes room for another one", async () => {
  const port = await serve({ unfinishedMax: 2, shareMs: 0 });
  const { answer: oldest } = await send(port, 100, "x");
  await send(port, 100, "x");
  const { answer: whole } = await send(port, 3, "xyz");
  expect(await oldest).toMatch(/^HTTP\/1\.1 408 /);
  expect(await whole).toMatch(/^HTTP\/1\.1 200 /);
});

test("of bodies that have just begun none is cut: the one too many is refused", async () => {
  const port = await serve({ unfinishedMax: 2, shareMs: 60_000 });
  await send(port, 100, "x");
  await send(port, 100, "x");
  const { answer: refused } = await send(port, 3, "xyz");
  expect(await refused).toMatch(/^HTTP\/1\.1 429 /);
});
