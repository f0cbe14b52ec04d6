import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { FILES_HOST, outboundTo, ranged, serveFiles, whole } from "./file-server.ts";
import type { FileServer, Serve } from "./file-server.ts";
import { flag, noise } from "./pictures.ts";

const MEGABYTE = 1_000_000;
const LARGE = noise(3 * MEGABYTE);
LARGE.write("\xff\xd8\xff", "latin1");

let photo: Buffer;
let server: FileServer;
let outbound: Outbound;
const routes: Record<string, Serve> = {};

beforeAll(async () => {
  photo = await flag(600, 400).jpeg().toBuffer();
  server = await serveFiles(routes);
  outbound = outboundTo(server);
});
afterAll(async () => {
  await outbound.close();
  await server.close();
});

const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const url = (path: string) => new URL(path, `https://${FILES_HOST}`).href;
const open = (bytesMax = 100 * MEGABYTE) => openMedia(outbound, url("/file"), { bytesMax });

async function allOf(serve: Serve, bytesMax?: number): Promise<Buffer> {
  routes["/file"] = serve;
  const file = await open(bytesMax);
  const parts: Uint8Array[] = [];
  for await (const chunk of file.chunks()) parts.push(chunk);
  await file.close();
  const bytes = Buffer.concat(parts);
  expect(bytes.length).toBe(file.size);
  return bytes;
}

async function failureOf(work: Promise<unknown>): Promise<MediaFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof MediaFailure) return failure;
  throw new Error("nothing failed", { cause: failure });
}

const refused = async (serve: Serve, bytesMax?: number) =>
  (await failureOf(allOf(serve, bytesMax))).message;

const send =
  (status: number, headers: Record<string, string | number | string[]>, body?: Uint8Array): Serve =>
  (_request, response) => {
    // Raw bytes, as they are on the wire.
    response.writeHead(status, headers);
    response.end(body);
  };

/** Answers the request for the beginning with `first`, and those for other parts with `later`. */
const split =
  (first: Serve, later: Serve): Serve =>
  (request, response) =>
    (request.headers.range?.startsWith("bytes=0-") === true ? first : later)(request, response);

/** Answers requests for a range with `part`, and those for the file as a whole with `all`. */
const byRange =
  (part: Serve, all: Serve): Serve =>
  (request, response) =>
    (request.headers.range === undefined ? all : part)(request, response);

const coded = (coding: string, body: Uint8Array): Serve =>
  send(200, { "content-encoding": coding, "content-length": body.length }, body);

describe("a file that its server compresses whatever it is asked for", () => {
  test.each<[string, (bytes: Uint8Array) => Buffer]>([
    ["gzip", gzipSync],
    ["GZip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, br", (bytes) => brotliCompressSync(gzipSync(bytes))],
    ["identity, gzip", gzipSync],
    ["identity", (bytes) => Buffer.from(bytes)],
    [
      "gzip",
      (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 99)), gzipSync(bytes.subarray(99))]),
    ],
  ])("a compressed file is decoded: %s (%#)", async (coding, encode) => {
    expect((await allOf(coded(coding, encode(photo)))).equals(photo)).toBe(true);
  });

  test.each(["utf-8", "none", "aws-chunked", "binary", ""])(
    "a file is taken as it is where the coding is nothing: %j",
    async (coding) => {
      const serve: Serve = (request, response) => {
        response.setHeader("content-encoding", coding);
        ranged(photo)(request, response);
      };
      expect((await allOf(serve)).equals(photo)).toBe(true);
    },
  );

  test.each(["compress", "aes128gcm", "gzip, compress", "gzip, gzip, gzip, gzip"])(
    "an unknown coding is refused by its name: %s",
    async (coding) => {
      const message = `The file is sent with the unknown Content-Encoding "${coding}". Send the file without Content-Encoding.`;
      expect(await refused(coded(coding, noise(1_000)))).toBe(message);
    },
  );

  test("a file that its server compresses whatever it is asked for is requested as a whole where a part of the compressed file came", async () => {
    const bytes = gzipSync(LARGE);
    const part = send(
      206,
      {
        "content-encoding": "gzip",
        "content-range": `bytes 0-131071/${bytes.length}`,
        "content-length": 131_072,
      },
      bytes.subarray(0, 131_072),
    );
    expect((await allOf(byRange(part, coded("gzip", bytes)))).equals(LARGE)).toBe(true);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["is not compressed", (bytes) => bytes],
    ["ends too early", (bytes) => gzipSync(bytes).subarray(0, 500)],
  ])("names the cause if it %s", async (_what, encode) => {
    expect(await refused(coded("gzip", encode(photo)))).toContain("is not compressed as its");
  });

  const bomb = (encode: (bytes: Uint8Array) => Buffer) => encode(Buffer.alloc(40 * 1024 * 1024));
  test.each<[string, (bytes: Uint8Array) => Buffer]>([
    ["gzip", gzipSync],
    ["gzip, gzip", (bytes) => gzipSync(gzipSync(bytes))],
    ["zstd", zstdCompressSync],
  ])("a compressed file is not decoded beyond its limit: %s", async (coding, encode) => {
    const bytes = bomb(encode);
    expect(bytes.length).toBeLessThan(MEGABYTE);
    expect(await refused(coded(coding, bytes), MEGABYTE)).toBe("larger than 1000000 bytes");
    expect(await refused(coded(coding, bytes), 900 * MEGABYTE)).toMatch(
      /doesn't send the file's size.* 32 MiB/,
    );
  });

  test("a file that its server compresses whatever it is asked for is given up when what comes decodes to nothing", async () => {
    let sent = 0;
    const endless: Serve = (_request, response) => {
      response.writeHead(200, { "content-encoding": "deflate" });
      // An empty stored block, over and over.
      const blocks = Buffer.concat(Array<Buffer>(20_000).fill(Buffer.from([0, 0, 0, 255, 255])));
      const write = (): void => {
        if (response.destroyed) return;
        sent += blocks.length;
        response.write(blocks, write);
      };
      write();
    };
    expect(await refused(endless)).toMatch(/Content-Encoding/);
    expect(sent).toBeLessThan(64 * MEGABYTE);
  });
});

describe("a server's answer to the request for a part", () => {
  const part = (first: number, last: number, total: number | "*", bytes = LARGE): Serve =>
    send(
      206,
      { etag: '"one"', "content-range": `bytes ${first}-${last}/${total}` },
      bytes.subarray(first, last + 1),
    );
  const multipart = send(206, { "content-type": "multipart/byteranges; boundary=x" }, LARGE);

  test.each<[string, Serve]>([
    ["is a part of a file of unknown size", part(0, 99, "*")],
    ["is another part", part(5, 99, LARGE.length)],
    ["is several parts", multipart],
    ["is a refusal", send(416, { "content-range": "bytes */3000000" })],
    ["names no part", send(206, {}, LARGE.subarray(0, 131_072))],
  ])("%s: the file is requested as a whole", async (_what, answer) => {
    expect((await allOf(byRange(answer, whole(LARGE)))).equals(LARGE)).toBe(true);
  });

  test.each<[string, Serve]>([
    ["is the whole file", whole(LARGE)],
    [
      "is the whole file, as a proxy changed it",
      send(203, { etag: '"one"', "content-length": LARGE.length }, LARGE),
    ],
    ["is several parts", multipart],
    ["is a refusal", send(416, { "content-range": `bytes */${LARGE.length}` })],
  ])("%s, later on: the file is read as a whole", async (_what, later) => {
    const serve = byRange(split(ranged(LARGE), later), whole(LARGE));
    expect((await allOf(serve)).equals(LARGE)).toBe(true);
  });

  test("a server's answer to the request for a part has less than was asked for: the rest is requested", async () => {
    const serve: Serve = (request, response) => {
      const first = Number(/\d+/.exec(request.headers.range ?? "")?.[0]);
      part(first, Math.min(first + 99_999, LARGE.length - 1), LARGE.length)(request, response);
    };
    expect((await allOf(serve)).equals(LARGE)).toBe(true);
  });

  test("gives byte for byte: it is given up", async () => {
    const serve: Serve = (request, response) => {
      const first = Number(/\d+/.exec(request.headers.range ?? "")?.[0]);
      part(first, first, LARGE.length)(request, response);
    };
    const before = server.asked.length;
    expect(await refused(serve)).toMatch(/a different byte range than requested/);
    expect(server.asked.length - before).toBeLessThan(50);
  });

  test("a server's answer to the request for a part has more than was asked for", async () => {
    const later: Serve = (request, response) => {
      const first = Number(/\d+/.exec(request.headers.range ?? "")?.[0]);
      part(first - 10, LARGE.length - 1, "*")(request, response);
    };
    expect((await allOf(split(ranged(LARGE), later))).equals(LARGE)).toBe(true);
  });

  test("leaves out Last-Modified, which is what If-Range asked by (RFC 9110, 15.3.7)", async () => {
    const date = "Wed, 18 Nov 2026 09:00:00 GMT";
    const serve: Serve = (request, response) => {
      const [first = 0, last = 0] = request.headers.range?.match(/\d+/g)?.map(Number) ?? [];
      const known = request.headers["if-range"] === date;
      response.writeHead(206, {
        ...(known ? {} : { "last-modified": date }),
        "content-range": `bytes ${first}-${Math.min(last, LARGE.length - 1)}/${LARGE.length}`,
      });
      response.end(LARGE.subarray(first, last + 1));
    };
    expect((await allOf(serve)).equals(LARGE)).toBe(true);
  });

  const OTHER = Buffer.from(LARGE).fill(7, 1_000, 2_000);
  test.each<[string, string, Serve]>([
    ["another tag", '"zero"', ranged(OTHER, '"one"')],
    ["another weak tag", 'W/"one"', ranged(OTHER, 'W/"two"')],
    ["another size", '"two"', part(131_072, LARGE.length - 1, LARGE.length + 1)],
    ["a whole file with another tag", '"two"', whole(OTHER, '"three"')],
    ["a file that is shorter now", '"one"', send(416, { "content-range": "bytes */200000" })],
  ])("an answer for a part has %s: the file has changed", async (_what, tag, later) => {
    let asked = 0;
    const serve: Serve = (request, response) => {
      asked += 1;
      (asked === 1 ? ranged(LARGE, tag) : later)(request, response);
    };
    const failure = await failureOf(allOf(serve));
    expect(failure).toMatchObject({ code: "media_unreachable", reason: "changed" });
  });

  /** Answers each request with a tag of its own. No condition is ever met. */
  const tagged =
    (tag: (count: number) => string, serve: (tag: string) => Serve): Serve =>
    (request, response) =>
      serve(tag((count += 1)))(request, response);
  let count = 0;
  const weak = (index: number) => `W/"${index}"`;
  const strong = (index: number) => `"${index}"`;
  const inTurns = (index: number) => strong(index % 2);
  test.each<[string, Serve]>([
    ["with ranges, weak", tagged(weak, (tag) => ranged(LARGE, tag))],
    ["with ranges, strong", tagged(strong, (tag) => ranged(LARGE, tag))],
    ["with ranges, of two servers", tagged(inTurns, (tag) => ranged(LARGE, tag))],
    ["without ranges, weak", tagged(weak, (tag) => whole(LARGE, tag))],
    ["without ranges, strong", tagged(strong, (tag) => whole(LARGE, tag))],
  ])(
    "a tag that is new with each answer doesn't make the file another: %s",
    async (_what, serve) => {
      const before = server.asked.length;
      expect((await allOf(serve)).equals(LARGE)).toBe(true);
      expect(server.asked.length - before).toBeLessThan(9);
    },
  );

  test("the tags of two servers are told apart from those of another file once", async () => {
    count = 0;
    const before = server.asked.length;
    await allOf(
      tagged(
        (index) => `W/"${index % 2}"`,
        (tag) => ranged(noise(9 * MEGABYTE), tag),
      ),
    );
    const checks = server.asked
      .slice(before + 1)
      .filter((asked) => asked.includes("bytes=0-131071"));
    expect(checks).toHaveLength(1);
  });

  test("a file that is exchanged between two parts is given up, although each answer has a new tag", async () => {
    count = 0;
    const serve = tagged(weak, (tag) => ranged(count > 3 ? OTHER : LARGE, tag));
    expect(await failureOf(allOf(serve))).toMatchObject({ reason: "changed" });
  });

  test("a file that is exchanged before it is sent as a whole is given up", async () => {
    count = 0;
    const serve = tagged(
      () => '"one"',
      (tag) => whole(count > 1 ? OTHER : LARGE, tag),
    );
    expect(await failureOf(allOf(serve))).toMatchObject({ reason: "changed" });
  });
});

describe("a server's answer to the request for a file", () => {
  test.each<[string, Serve]>([
    ["is the file as a proxy changed it (203)", send(203, {}, LARGE)],
    ["has no Content-Type", whole(LARGE)],
    ["has a wrong Content-Type", send(200, { "content-type": "text/html; x=1" }, LARGE)],
    ["states no size", send(200, { "transfer-encoding": "chunked" }, LARGE)],
  ])("a server's answer to the request for a file: %s", async (_what, serve) => {
    expect((await allOf(serve)).equals(LARGE)).toBe(true);
  });

  test("comes after hints (103)", async () => {
    const serve: Serve = (request, response) =>
      response.writeEarlyHints({ link: "</a.css>; rel=preload" }, () =>
        whole(photo)(request, response),
      );
    expect((await allOf(serve)).equals(photo)).toBe(true);
  });

  test.each<[number, RegExp]>([
    [202, /HTTP 202/],
    [204, /empty/],
    [304, /HTTP 304/],
    [403, /HTTP 403/],
    [412, /HTTP 412/],
    [503, /HTTP 503/],
    [300, /redirects without a valid Location/],
    [302, /redirects without a valid Location/],
  ])("an answer that is only %s is given up with its cause", async (status, message) => {
    expect(await refused(send(status, {}))).toMatch(message);
  });

  test("a server's answer to the request for a file is nothing: the cause is named", async () => {
    expect(await refused(send(200, { "content-length": 0 }))).toBe("The file is empty.");
  });
});

describe("redirects", () => {
  const moved = (location: string | string[], status = 302): Serve => send(status, { location });
  const hops = (count: number) => {
    for (let hop = 0; hop < count; hop += 1)
      routes[`/hop${hop}`] = moved(hop + 1 === count ? "/there.jpg" : `/hop${hop + 1}`);
    return moved("/hop0");
  };

  test.each<[string, () => Serve, string]>([
    ["five times", () => hops(4), "/there.jpg"],
    [
      "to raw UTF-8",
      () => moved(latin1("/bücher/日本.jpg?q=ü#x")),
      "/b%C3%BCcher/%E6%97%A5%E6%9C%AC.jpg",
    ],
    ["to raw Latin-1", () => moved("/b\u00fccher.jpg"), "/b%FCcher.jpg"],
    ["to an encoded address", () => moved("/b%C3%BCcher.jpg"), "/b%C3%BCcher.jpg"],
    ["with a fragment", () => moved("there.jpg#part"), "/there.jpg"],
    ["to its own host, without a scheme", () => moved(`//${FILES_HOST}/there.jpg`), "/there.jpg"],
    ["with two equal addresses", () => moved(["/there.jpg", "/there.jpg"]), "/there.jpg"],
    ["by preferred choice (300)", () => moved("/there.jpg", 300), "/there.jpg"],
    ["by 303", () => moved("/there.jpg", 303), "/there.jpg"],
    ["by 308", () => moved("/there.jpg", 308), "/there.jpg"],
  ])("redirects are followed: %s", async (_what, serve, path) => {
    routes[path] = ranged(photo);
    expect((await allOf(serve())).equals(photo)).toBe(true);
  });

  test.each<[string, (bytes: Uint8Array) => Serve]>([
    ["with ranges", ranged],
    ["without ranges", whole],
  ])("a file is sent to who brings the cookies that were set before: %s", async (_how, serve) => {
    const cookies = [
      "seen=1; Path=/; Expires=Sun, 29 Jul 2029 05:06:47 GMT",
      "geo=de; Path=/; Secure; SameSite=Lax",
    ];
    const seen: Serve = (request, response) => {
      if (request.headers.cookie === "seen=1; geo=de") serve(LARGE)(request, response);
      else send(302, { location: "/file", "set-cookie": cookies })(request, response);
    };
    expect((await allOf(seen)).equals(LARGE)).toBe(true);
  });

  test.each<[string, () => Serve, RegExp]>([
    ["more than five", () => hops(5), /redirects more than 5 times/],
    ["a loop", () => moved("/file"), /redirects more than 5 times/],
    ["to no address", () => moved("https://"), /without a valid Location/],
    [
      "to a host that does not exist",
      () => moved(`http://files.example.com/`),
      /lead to a public address/,
    ],
    ["to a private address", () => moved("https://10.0.0.1/"), /lead to a public address/],
    ["to another scheme", () => moved("data:image/png,x"), /not https/],
  ])("end with the cause: %s", async (_what, serve, message) => {
    expect(await refused(serve())).toMatch(message);
  });
});
