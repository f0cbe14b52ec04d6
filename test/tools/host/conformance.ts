import { connect } from "node:net";
import { parseArgs } from "node:util";

/*
 * What the Azure Functions host answers, request by request, as it was seen there (host 4.1037). The local host is held
 * against it in the tests. `node test/tools/host/conformance.ts http://localhost:7071` sends the same to any other host that
 * runs the app of `test/tools/host/fixture`.
 */

/** A request, byte by byte: text beyond U+007F stands for one byte of that value. */
interface Sent {
  readonly method?: string;
  readonly target: string;
  readonly version?: "1.0" | "1.1";
  /** Undefined: the address that is asked, and `Connection: close`. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** An answer, or what of it a row says. Header names in lower case; null: it must not be there. */
interface Expected {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string;
  /** What the function `echo` was given. */
  readonly echo?: Readonly<Record<string, unknown>>;
}

interface Row {
  readonly name: string;
  readonly sent: Sent;
  readonly expected: Expected;
}

const HOST = "Host: a.test";
const CLOSE = "Connection: close";
const bare = (status: number): Expected => ({
  status,
  headers: { "content-length": "0", server: "Kestrel" },
  body: "",
});
const get = (target: string, headers: readonly string[] = []): Sent => ({
  target,
  headers: [HOST, CLOSE, ...headers],
});
const post = (target: string, body: string, headers: readonly string[]): Sent => ({
  method: "POST",
  target,
  body,
  headers: [HOST, CLOSE, ...headers],
});
const headerLines = (count: number): string[] =>
  Array.from({ length: count }, (_none, index) => `X-${index}: 1`);

/** One row for each request. Differences of parsers are left out, and what the app neither uses nor observes. */
export const ROWS: readonly Row[] = [
  {
    name: "a body with its length",
    sent: post("/api/echo", "hello", ["Content-Length: 5"]),
    expected: { status: 200, echo: { body: "aGVsbG8=" } },
  },
  {
    name: "a body in chunks is empty",
    sent: post("/api/echo", "5\r\nhello\r\n0\r\n\r\n", ["Transfer-Encoding: chunked"]),
    expected: { status: 200, echo: { body: "" } },
  },
  {
    name: "a body over the limit",
    sent: post("/api/echo", "", ["Content-Length: 104857601"]),
    expected: { ...bare(500), headers: { connection: "close", "content-length": "0" } },
  },
  {
    name: "an answer with a body is chunked",
    sent: get("/api/binary"),
    expected: {
      status: 201,
      headers: { "transfer-encoding": "chunked", "content-length": null, server: "Kestrel" },
    },
  },
  {
    name: "so is one without its body",
    sent: { ...get("/api/head"), method: "HEAD" },
    expected: {
      status: 200,
      headers: { "transfer-encoding": null, "content-length": null },
      body: "",
    },
  },
  {
    name: "headers of the connection are sent as given",
    sent: get("/api/headers?set=content-length"),
    expected: { status: 200, headers: { "content-length": "2", "transfer-encoding": null } },
  },
  {
    name: "so does the end of the connection",
    sent: { target: "/api/headers?set=connection", headers: [HOST] },
    expected: { status: 200, headers: { connection: "close" } },
  },
  {
    name: "so does a date",
    sent: get("/api/headers?set=date"),
    expected: { status: 200, headers: { date: "Thu, 01 Jan 1970 00:00:00 GMT" } },
  },
  {
    name: "so does a trailer",
    sent: get("/api/headers?set=trailer"),
    expected: { status: 200, headers: { trailer: "X-After" }, body: "ok" },
  },
  {
    name: "a response header that is not ASCII",
    sent: get("/api/headers?set=x-umlaut"),
    expected: { ...bare(500), headers: { "x-umlaut": null } },
  },
  { name: "a handler that returns nothing", sent: get("/api/nothing"), expected: { status: 204 } },
  { name: "an empty segment", sent: get("/api//echo"), expected: bare(404) },
  {
    name: "the slash at the end of a catch-all",
    sent: get("/api/files/x/"),
    expected: { status: 200, echo: { params: { rest: "x/" } } },
  },
  { name: "a path that no function has", sent: get("/api/unknown"), expected: bare(404) },
  {
    name: "a request line of 8,192 bytes",
    sent: get(`/api/echo?${"q".repeat(8_192 - "GET /api/echo? HTTP/1.1\r\n".length)}`),
    expected: { status: 200 },
  },
  {
    name: "a request line of one more",
    sent: get(`/api/echo?${"q".repeat(8_193 - "GET /api/echo? HTTP/1.1\r\n".length)}`),
    expected: { status: 414 },
  },
  {
    name: "a request line of 80,000 bytes",
    sent: get(`/api/echo?${"q".repeat(80_000)}`),
    expected: { status: 414 },
  },
  {
    name: "100 headers",
    sent: get("/api/echo", headerLines(98)),
    expected: { status: 200 },
  },
  { name: "101 headers", sent: get("/api/echo", headerLines(99)), expected: { status: 431 } },
  {
    name: "headers over 32 KB",
    sent: get("/api/echo", [`X-Long: ${"x".repeat(33_000)}`]),
    expected: { status: 431 },
  },
  {
    name: "headers of 500 KB",
    sent: get("/api/echo", [`X-Long: ${"x".repeat(500_000)}`]),
    expected: { status: 431 },
  },
  {
    name: "a header in UTF-8",
    sent: get("/api/echo", ["X-Name: J\u00c3\u00bcrgen"]),
    expected: { status: 200, echo: { headers: { "x-name": "J\u00fcrgen" } } },
  },
  {
    name: "a control character in a header",
    sent: get("/api/echo", ["X-Name: a\u0001b"]),
    expected: { status: 200, echo: { headers: { "x-name": "a\u0001b" } } },
  },
  {
    name: "a header in Latin-1",
    sent: get("/api/echo", ["X-Name: J\u00fcrgen"]),
    expected: { status: 400 },
  },
  {
    name: "two Host headers",
    sent: get("/api/echo", ["Host: b.test"]),
    expected: { status: 400 },
  },
  {
    name: "an empty Host header",
    sent: { target: "/api/echo", headers: ["Host:", CLOSE] },
    expected: { status: 500 },
  },
  {
    name: "no Host header in HTTP/1.0",
    sent: { target: "/api/echo", version: "1.0", headers: [] },
    expected: { status: 500 },
  },
  {
    name: "no Host header in HTTP/1.1",
    sent: { target: "/api/echo", headers: [CLOSE] },
    expected: { status: 400 },
  },
  { name: "an absolute URL", sent: get("http://a.test/api/echo"), expected: { status: 200 } },
  {
    name: "an absolute URL of another host",
    sent: get("http://b.test/api/echo"),
    expected: { status: 400 },
  },
  {
    name: "an unknown method",
    sent: { ...get("/api/echo"), method: "BREW" },
    expected: { status: 404, body: "" },
  },
  { name: "the home page", sent: get("/"), expected: { status: 200 } },
  {
    name: "the home page by any method",
    sent: { ...get("/"), method: "DELETE" },
    expected: { status: 200 },
  },
  { name: "the host's ping", sent: get("/admin/host/ping"), expected: { status: 200 } },
  { name: "the host's warm-up", sent: get("/admin/warmup"), expected: { status: 200 } },
  {
    name: "the host's other paths",
    sent: get("/admin/host/status"),
    expected: { status: 401, headers: { "www-authenticate": "Bearer" } },
  },
  {
    name: "the host's webhooks",
    sent: get("/runtime/webhooks/x"),
    expected: { status: 401 },
  },
  {
    name: "a path in upper case, with a slash at its end",
    sent: get("/API/ECHO/"),
    expected: { status: 200, echo: { function: "echo" } },
  },
  {
    name: "a path with dot segments",
    sent: get("/api/./files/%2e%2e/echo"),
    expected: { status: 200, echo: { url: "http://a.test/api/echo" } },
  },
  { name: "a path with a zero byte", sent: get("/api/files/a%00b"), expected: { status: 400 } },
  {
    name: "a path with an encoded slash",
    sent: get("/api/files/a%2Fb"),
    expected: { status: 200, echo: { params: { rest: "a%2Fb" } } },
  },
  {
    name: "a header that is repeated",
    sent: get("/api/echo", ["X-Twice: 1", "X-Twice: 2"]),
    expected: { status: 200, echo: { headers: { "x-twice": "1,2" } } },
  },
  {
    name: "a method that a function does not have",
    sent: { ...get("/api/echo"), method: "OPTIONS" },
    expected: bare(404),
  },
  {
    name: "what a front end says of scheme and host",
    sent: get("/api/echo", ["X-Forwarded-Proto: https", "DISGUISED-HOST: b.test"]),
    expected: { status: 200, echo: { url: "https://b.test/api/echo" } },
  },
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ANSWER_MS = 10_000;

function bytesOf({
  method = "GET",
  target,
  version = "1.1",
  headers = [],
  body = "",
}: Sent): Buffer {
  const head = [`${method} ${target} HTTP/${version}`, ...headers, "", ""].join("\r\n");
  return Buffer.from(head + body, "latin1");
}

/** Sends the bytes and reads until the host closes the connection. */
async function exchange(origin: string, sent: Sent): Promise<Buffer> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port || 80), hostname);
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("no answer")));
  socket.write(bytesOf(sent));
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function withoutChunks(body: string): string {
  let [rest, whole] = [body, ""];
  for (;;) {
    const end = rest.indexOf("\r\n");
    const length = end === -1 ? 0 : Number.parseInt(rest.slice(0, end), 16);
    if (!(length > 0)) return whole;
    whole += rest.slice(end + 2, end + 2 + length);
    rest = rest.slice(end + 2 + length + 2);
  }
}

/** Sends a row's request to a host and returns its answer. */
async function ask(origin: string, sent: Sent): Promise<Answer> {
  const text = (await exchange(origin, sent)).toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  return {
    status: Number(first.split(" ")[1]),
    headers,
    body: headers["transfer-encoding"] === "chunked" ? withoutChunks(body) : body,
  };
}

function echoOf({ body }: Answer): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(body, "latin1").toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Returns the parts of `found` that `wanted` names, at any depth. */
function partOf(found: unknown, wanted: unknown): unknown {
  if (typeof wanted !== "object" || wanted === null) return found;
  if (typeof found !== "object" || found === null) return found;
  return Object.fromEntries(
    Object.entries(wanted).map(([name, part]) => [name, partOf(Reflect.get(found, name), part)]),
  );
}

/** Returns what a host answers, as far as the row says what is expected. */
export async function answerOf(origin: string, { sent, expected }: Row): Promise<Expected> {
  const answer = await ask(origin, sent);
  const headers = Object.keys(expected.headers ?? {}).map((name) => [
    name,
    answer.headers[name] ?? null,
  ]);
  return {
    status: answer.status,
    ...(expected.headers === undefined ? {} : { headers: Object.fromEntries(headers) }),
    ...(expected.body === undefined ? {} : { body: answer.body }),
    ...(expected.echo === undefined
      ? {}
      : { echo: partOf(echoOf(answer), expected.echo) as Record<string, unknown> }),
  };
}

/** Holds a host against the table; prints what differs. */
async function main(): Promise<void> {
  const [origin] = parseArgs({ allowPositionals: true }).positionals;
  if (origin === undefined)
    throw new Error("usage: node test/tools/host/conformance.ts http://host:port");
  let differences = 0;
  for (const row of ROWS) {
    const given = await answerOf(origin, row).catch((error: unknown) => String(error));
    if (JSON.stringify(given) === JSON.stringify(row.expected)) continue;
    differences += 1;
    process.stdout.write(
      `${row.name}\n  expected ${JSON.stringify(row.expected)}\n  answered ${JSON.stringify(given)}\n`,
    );
  }
  process.stdout.write(`${ROWS.length} requests, ${differences} answered otherwise\n`);
  process.exitCode = differences === 0 ? 0 : 1;
}

if (import.meta.main) await main();
