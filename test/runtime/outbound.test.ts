import { multipartWithFile } from "../../src/shared/networks/contract/multipart.ts";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { HttpFailure, type HttpRequest } from "../../src/shared/runtime/http-call.ts";
import {
  createOutbound,
  isAllowedAddress,
  refusedUrl,
  type Outbound,
} from "../../src/shared/runtime/outbound.ts";

describe("an address", () => {
  test.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.254",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:169.254.169.254",
    "0:0:0:0:0:ffff:a00:1",
    "::ffff:a9fe:a9fe",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:10::1",
    "2001:2::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "not an address",
    "",
  ])("%s is not dialled", (address) => {
    expect(isAllowedAddress(address)).toBe(false);
  });

  test.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "128.0.0.1",
    "168.63.129.15",
    "172.15.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "2600::1",
    "2a00:1450:4001:80e::200e",
    "2001:4860:4860::8888",
    "2003::1",
  ])("%s is dialled", (address) => {
    expect(isAllowedAddress(address)).toBe(true);
  });
});

describe("a URL that somebody else chose", () => {
  test.each([
    ["http://example.com/", "must be an https URL"],
    ["ftp://example.com/", "must be an https URL"],
    ["file:///etc/passwd", "must be an https URL"],
    ["https://user:secret@example.com/", "must not carry a user name or a password"],
    ["https://user@example.com/", "must not carry a user name or a password"],
    ["https://127.0.0.1/", "must lead to a public address"],
    ["https://127.1/", "must lead to a public address"],
    ["https://0x7f.1/", "must lead to a public address"],
    ["https://0177.0.0.1/", "must lead to a public address"],
    ["https://2130706433/", "must lead to a public address"],
    ["https://①②⑦.0.0.1/", "must lead to a public address"],
    ["https://[::1]/", "must lead to a public address"],
    ["https://[::ffff:127.0.0.1]/", "must lead to a public address"],
    ["https://[fe80::1]/", "must lead to a public address"],
    ["https://169.254.169.254/latest/meta-data", "must lead to a public address"],
    ["https://168.63.129.16/", "must lead to a public address"],
    ["https://localhost/", "must lead to a public host name"],
    ["https://localhost./", "must lead to a public host name"],
    ["https://LOCALHOST/", "must lead to a public host name"],
    ["https://db.localhost/", "must lead to a public host name"],
    ["https://printer.local/", "must lead to a public host name"],
    ["https://metadata.google.internal/", "must lead to a public host name"],
    ["https://intranet/", "must lead to a public host name"],
    ["https://example.com:22/", "must use port 443, or one from 1024 on that browsers allow"],
    ["https://example.com:80/", "must use port 443, or one from 1024 on that browsers allow"],
    ["https://example.com:6667/", "must use port 443, or one from 1024 on that browsers allow"],
    ["https://", "must be an https URL"],
    ["nothing", "must be an https URL"],
    [`https://example.com/${"x".repeat(8_192)}`, "must have at most 8192 characters"],
  ])("%s is refused: %s", (url, reason) => {
    expect(refusedUrl(url)).toBe(reason);
  });

  test.each([
    "https://example.com/",
    "https://example.com:443/a?b=c",
    "https://example.com:8443/",
    "https://example.com./",
    "https://1.1.1.1/",
    "https://[2606:4700:4700::1111]/",
    "https://xn--bcher-kva.example/",
  ])("%s may be dialled", (url) => {
    expect(refusedUrl(url)).toBeUndefined();
  });
});

describe("a call", () => {
  let server: Server;
  let outbound: Outbound;
  let seen: { path: string; headers: NodeJS.Dict<string | string[]>; body: string } | undefined;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        seen = { path: request.url ?? "", headers: request.headers, body };
        const path = (request.url ?? "").split("?")[0];
        if (path === "/redirect") response.writeHead(302, { location: "/elsewhere" }).end();
        else if (path === "/large") response.end("x".repeat(3_000));
        else if (path === "/cut")
          response.writeHead(200, { "content-length": "100" }).write("half");
        else if (path === "/ids")
          response.end('{"id":17841405793187218,"of":[-12345678901234567,12.5],"next":7}');
        else if (path === "/drop") request.socket.destroy();
        else if (path !== "/hang") response.setHeader("x-twice", ["a", "b"]).end('{"ok":true}');
        if (path === "/cut") setTimeout(() => request.socket.destroy(), 20);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const spare = createTcpServer();
    await new Promise<void>((resolve) => spare.listen(0, "127.0.0.1", resolve));
    const closed = (spare.address() as AddressInfo).port;
    await new Promise((resolve) => spare.close(resolve));
    outbound = createOutbound(
      parseConfig({
        AZURE_FUNCTIONS_ENVIRONMENT: "Development",
        AzureWebJobsStorage: "UseDevelopmentStorage=true",
        OUTBOUND_HOST_MAP: JSON.stringify({
          "api.example.test": `http://127.0.0.1:${port}`,
          "name.example.test": `http://localhost:${port}`,
          "closed.example.test": `http://127.0.0.1:${closed}`,
          "other.example.test": `http://127.0.0.2:${port}`,
        }),
        OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32,::1/128",
      }),
    );
  });
  afterAll(async () => {
    await outbound.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (url: string, more: Partial<HttpRequest> = {}) =>
    outbound.request({ method: "GET", url, ...more });

  async function failureOf(call: Promise<unknown>): Promise<HttpFailure> {
    const failure = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure instanceof HttpFailure) return failure;
    throw new Error("the call did not fail as it should", { cause: failure });
  }

  test("a call to a mapped host keeps path and query and tells the host that was meant", async () => {
    const answer = await get("https://api.example.test/a/b?c=d", { headers: { "x-own": "1" } });
    expect(answer).toMatchObject({ status: 200, headers: { "x-twice": "a, b" } });
    expect(answer.json()).toEqual({ ok: true });
    expect(seen).toMatchObject({
      path: "/a/b?c=d",
      headers: { "x-forwarded-host": "api.example.test", "x-own": "1" },
    });
    expect((await get("https://name.example.test/")).status).toBe(200);
  });

  test("keeps ids that are longer than a number can be", async () => {
    expect((await get("https://api.example.test/ids")).json()).toEqual({
      id: "17841405793187218",
      of: ["-12345678901234567", 12.5],
      next: 7,
    });
  });

  test("follows no redirect", async () => {
    const answer = await get("https://api.example.test/redirect");
    expect(answer).toMatchObject({ status: 302, headers: { location: "/elsewhere" } });
    expect(seen?.path).toBe("/redirect");
  });

  test("a call with a form sends its fields and files with an exact length", async () => {
    const file = { name: "file", filename: "photo.jpg", contentType: "image/jpeg" };
    const form = multipartWithFile(
      { description: "Ein Foto ✓\nin zwei Zeilen" },
      { ...file, body: Buffer.from("bytes") },
    );
    await get("https://api.example.test/", { method: "POST", ...form });
    expect(seen?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(Number(seen?.headers["content-length"])).toBe(Buffer.byteLength(seen?.body ?? ""));
    expect(seen?.body).toContain('filename="photo.jpg"');
    expect(seen?.body).toContain("Ein Foto ✓\nin zwei Zeilen\r\n--");
  });

  test.each<[string, Partial<HttpRequest>, HttpFailure["delivery"], HttpFailure["reason"]]>([
    ["https://127.0.0.2/", {}, "not_sent", "blocked_address"],
    ["https://other.example.test/", {}, "not_sent", "blocked_address"],
    ["https://metadata.google.internal/", {}, "not_sent", "blocked_address"],
    ["gopher://example.com/", {}, "not_sent", "blocked_address"],
    ["https://closed.example.test/", {}, "not_sent", "connect_failed"],
    ["https://api.example.test/hang", { timeoutMs: 100 }, "in_doubt", "timeout"],
    ["https://api.example.test/drop", {}, "in_doubt", "connection_lost"],
    ["https://api.example.test/cut", {}, "in_doubt", "connection_lost"],
    ["https://api.example.test/large", { bytesMax: 1_000 }, "in_doubt", "too_large"],
  ])("a call to %s tells whether it may have arrived", async (url, more, delivery, reason) => {
    expect(await failureOf(get(url, more))).toMatchObject({ delivery, reason });
  });

  test("a call by a browser goes to the stand-in of a mapped host, else where it was meant to", () => {
    expect(outbound.browserUrl("https://api.example.test/x?y")).toMatch(/^http:\/\/127.*\/x\?y$/);
    expect(outbound.browserUrl("https://example.com/x")).toBe("https://example.com/x");
  });
});
