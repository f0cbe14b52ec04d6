import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  isRelayError,
  RelayClient,
  RelayConnectionError,
  RelayTimeoutError,
  type RelayOptions,
} from "../../../clients/typescript/src/index.ts";
import { OPERATIONS } from "../../../clients/typescript/src/made/operations.ts";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { chapters, routes } from "../../../src/functions/routes.ts";
import { matchPath } from "../../../src/shared/http/route.ts";
import { openApi } from "../../../tools/reference/openapi.ts";
import { chaptersForPrograms } from "../../../tools/reference/render-reference.ts";
import { PATIENCE_MS } from "../../setup/bounds.ts";
import { aPublisher, unique, uniqueKey, type Publisher } from "../../setup/publisher.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import { aPicture } from "../../setup/uploads.ts";
import { troubledRelay, type Trouble, type TroubledRelay } from "./troubled-relay.ts";

let sandbox: Sandbox;
let relay: Relay;
let server: RelayServer;
let publisher: Publisher;
const opened: TroubledRelay[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  relay = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
  server = await serveRelay(relay);
  publisher = await aPublisher(relay, ["bluesky"]);
});
afterAll(async () => {
  for (const one of opened) one.close();
  await server.close();
  await relay.stop();
  await sandbox.stop();
});

/** A client of the publisher, behind the troubles of a list. */
async function aClient(troubles: readonly Trouble[] = [], more: Partial<RelayOptions> = {}) {
  const troubled = await troubledRelay(server.baseUrl, troubles);
  opened.push(troubled);
  const { key, profileId } = publisher;
  const client = new RelayClient({ baseUrl: troubled.baseUrl, key, profileId, ...more });
  return { client, requests: troubled.requests };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => Promise.reject(new Error(`it succeeded with ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );
const aPost = (text = unique("From the client")) => ({ text, platforms: ["bluesky" as const] });
const published = (text: string) => sandbox.posts().filter((post) => post.text === text).length;
const JSON_TYPE = { "content-type": "application/json" };
const refusal = (status: number, code: string, headers: Record<string, string> = {}): Trouble => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify({
    error: { code, message: "No.", details: {}, requestId: "req_1", docUrl: "https://docs" },
  }),
});
const busy = refusal(503, "service_unavailable", { "retry-after": "0" });
const limited = refusal(429, "rate_limited", { "retry-after": "0" });
const page = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<h1>Bad gateway</h1>",
};

describe("operations", () => {
  const ids = Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[];

  test("each has a method that reaches its route, and reads its answer", async () => {
    const { client, requests } = await aClient();
    const methods = client as unknown as Record<string, (input: object) => unknown>;
    for (const id of ids) {
      const [, address = ""] = OPERATIONS[id].split(" ");
      const [path = ""] = address.split("?");
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
      const input = Object.fromEntries(names.map((name) => [name, "of-nothing"]));
      const result = methods[id]?.(input);
      const ended =
        result instanceof Promise
          ? result
          : (result as ReturnType<typeof client.listKeys>).pages().next();
      const failure: unknown = await ended.then(
        () => undefined,
        (error: unknown) => error,
      );
      // A page says in HTML what is wrong.
      const isPage = OPERATIONS[id].endsWith(" text") && failure instanceof RelayConnectionError;
      if (failure !== undefined && !isPage && !isRelayError(failure)) throw failure;
    }
    const reached = requests.map(({ method, path }) => {
      const found = matchPath(routes, path.split("?", 1)[0]?.slice(1) ?? "");
      return found.find(({ route }) => route.method === method)?.route.spec.operationId;
    });
    expect(reached).toEqual(ids);
  });

  test("all of the document's are there", () => {
    const { paths } = openApi(chaptersForPrograms(chapters), "https://relay.example.com", "Relay");
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(ids.length).toBeGreaterThan(80);
    expect(ids).toEqual(described);
  });

  test("names what a call lacks, or has too much of, before anything is sent", async () => {
    const { client, requests } = await aClient();
    for (const postId of ["", ".", ".."])
      await expect(client.getPost({ postId })).rejects.toThrow("getPost needs postId.");
    const more = { postId: "pst_1", text: "a field of another call" };
    await expect(client.getPost(more)).rejects.toThrow("getPost has no field text.");
    // What JavaScript lets a program write.
    const calls = client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
    for (const [id, given, message] of [
      ["getPost", ["pst_1"], "getPost takes its fields as one object."],
      ["createPost", [aPost(), { idempotencyKey: "1" }], "createPost has no option idempotencyKey"],
      ["createPost", [aPost(), { signal: new AbortController() }], "such as controller.signal"],
      ["uploadFile", ["clip.mp4"], "uploadFile needs a Blob"],
      ["uploadFile", [Buffer.from("bytes")], "new Blob([bytes])"],
    ] as const)
      await expect(calls[id]?.(...given)).rejects.toThrow(message);
    expect(requests).toEqual([]);
  });

  test("errors name the fields of a call, and not the headers that they are sent as", async () => {
    const client = new RelayClient({ baseUrl: server.baseUrl, key: publisher.key });
    const missing = await failureOf(client.createPost(aPost()));
    expect(isRelayError(missing, "profile_header_required")).toBe(true);
    expect(String(missing)).toContain("Name the profile with `profileId`.");
    const wrong = await failureOf(client.createPost({ ...aPost(), profileId: "prf_1" }));
    expect(String(wrong)).toContain("check `profileId`.");
  });

  test("takes the client's profile where a call needs one, and not as a filter", async () => {
    const { client, requests } = await aClient();
    const { profileId } = publisher;
    await client.listConnections().pages().next();
    await client.listUsage().pages().next();
    await client.listUsage({ profileId }).pages().next();
    const [of, all, one] = requests.map(({ path }) => path);
    expect(of).toBe(`/v1/profiles/${profileId}/connections`);
    expect([all, one]).toEqual(["/v1/billing/usage", `/v1/billing/usage?profileId=${profileId}`]);
  });

  test("an error of what stands in front of the relay has no empty parentheses", async () => {
    const body = JSON.stringify({ error: { code: "not_found", message: "No.", details: {} } });
    const { client } = await aClient([{ status: 404, headers: JSON_TYPE, body }]);
    const error = await failureOf(client.getPost({ postId: "pst_1" }));
    expect(error).toMatchObject({ message: "not_found: No.", requestId: "" });
  });

  test("writes what is given into addresses as one part of it", async () => {
    const { client, requests } = await aClient();
    const error = await failureOf(client.getPost({ postId: "../me?x=1#y" }));
    expect(isRelayError(error, "not_found")).toBe(true);
    expect(requests.map(({ path }) => path)).toEqual(["/v1/posts/..%2Fme%3Fx%3D1%23y"]);
  });
});

describe.concurrent("createPost", () => {
  test.each<[string, Trouble[]]>([
    ["a lost request", ["lose"]],
    ["lost answers", ["lose answer", "lose answer"]],
    ["half an answer", ["cut"]],
    ["an error after the effect", [{ ...(busy as object), status: 500, hasEffect: true }]],
    ["a busy relay and a limit", [busy, limited, busy]],
    [
      "a page of a proxy",
      [{ ...page, headers: { ...page.headers, "retry-after": "0" }, hasEffect: true }],
    ],
    ["a success that is a page", [{ ...page, status: 200, hasEffect: true }]],
    ["a success that is nothing", [{ status: 204, hasEffect: true }]],
    ["a success without data", [{ status: 202, headers: JSON_TYPE, body: "{}", hasEffect: true }]],
  ])("publishes once after %s", async (_, troubles) => {
    const { client, requests } = await aClient(troubles);
    const post = aPost();
    const { id } = await client.createPost(post);
    expect((await client.waitForPost(id)).status).toBe("succeeded");
    expect(published(post.text)).toBe(1);
    const keys = requests.filter(({ method }) => method === "POST").map(({ key }) => key);
    expect(keys).toHaveLength(troubles.length + 1);
    expect(new Set(keys).size).toBe(1);
  });

  test("publishes two posts with keys of their own", async () => {
    const { client, requests } = await aClient();
    await client.createPost(aPost());
    await client.createPost(aPost());
    expect(new Set(requests.map(({ key }) => key)).size).toBe(2);
  });

  test("gives up after three repeats, says why, and with which key to go on", async () => {
    const { client, requests } = await aClient(Array<Trouble>(4).fill("lose answer"));
    const post = aPost();
    const error = await failureOf(client.createPost(post));
    expect(error).toBeInstanceOf(RelayConnectionError);
    const { idempotencyKey } = error as RelayConnectionError;
    const [first = 0, ...later] = requests.map(({ at }) => at);
    const waits = later.map((at, index) => at - (later[index - 1] ?? first));
    // Half a second, one and two, each a quarter less at least.
    for (const [index, least] of [370, 740, 1_480].entries())
      expect(waits[index]).toBeGreaterThan(least);
    expect(waits).toHaveLength(3);
    const { id } = await client.createPost({ ...post, idempotencyKey: idempotencyKey ?? "" });
    await client.waitForPost(id);
    expect(published(post.text)).toBe(1);
  });
});

describe.concurrent("other calls", () => {
  test("a POST is repeated after a limit, and after nothing else", async () => {
    const profile = () => ({ title: "A shop", externalId: uniqueKey() });
    const { client, requests } = await aClient([limited, "pass", busy, "lose answer"]);
    await client.createProfile(profile());
    const error = await failureOf(client.createProfile(profile()));
    expect(isRelayError(error, "service_unavailable")).toBe(true);
    const lost = await failureOf(client.createProfile(profile()));
    expect(lost).toBeInstanceOf(RelayConnectionError);
    expect(requests).toHaveLength(4);
  });

  test("a read and a change are repeated, but a change that names the state it expects is not", async () => {
    const { client, requests } = await aClient([busy, "lose", "pass", busy, "pass", busy]);
    await client.getMe();
    await client.updateProfile({ profileId: publisher.profileId, title: "Renamed" });
    const scheduleAt = new Date(relay.clock.now().getTime() + 3_600_000).toISOString();
    const [, , , , , last] = requests;
    expect(last).toBeUndefined();
    const { id, updatedAt } = await publisher.accept({ ...aPost(), scheduleAt });
    const change = client.updatePost({ postId: id, text: "Another", expectedUpdatedAt: updatedAt });
    expect(isRelayError(await failureOf(change), "service_unavailable")).toBe(true);
    expect(requests).toHaveLength(6);
  });

  test("a repeated DELETE that finds nothing is done, and a first one is not", async () => {
    const { client } = await aClient(["pass", "lose answer", "pass", limited]);
    const { id } = await client.createWebhook({ url: "https://example.com/hook" });
    expect(await client.deleteWebhook({ webhookId: id })).toBeUndefined();
    const again = await failureOf(client.deleteWebhook({ webhookId: id }));
    expect(isRelayError(again, "not_found")).toBe(true);
  });

  test("a repeated DELETE of a scheduled post is done when that is canceled", async () => {
    const { client } = await aClient(["lose answer", "pass"]);
    const scheduleAt = new Date(relay.clock.now().getTime() + 3_600_000).toISOString();
    const { id } = await publisher.accept({ ...aPost(), scheduleAt });
    expect(await client.cancelPost({ postId: id })).toBeUndefined();
    const again = await failureOf(client.cancelPost({ postId: id }));
    expect(isRelayError(again, "invalid_state")).toBe(true);
    expect((await client.getPost({ postId: id })).status).toBe("canceled");
  });

  test("errors have all that the relay says", async () => {
    const { client } = await aClient();
    const externalId = uniqueKey();
    const { id } = await client.createProfile({ title: "One", externalId });
    const error = await failureOf(client.createProfile({ title: "Two", externalId }));
    if (!isRelayError(error, "conflict")) throw error;
    expect(error).toMatchObject({ status: 409, details: { existingId: id } });
    expect(error.requestId).toMatch(/^req_/);
    expect(error.docUrl).toContain("conflict");
    expect(error.message).toContain(error.requestId);
  });

  test("an answer that is not the relay's is an error that says so", async () => {
    const rubbish: readonly Trouble[] = [
      page,
      { status: 404, headers: page.headers, body: "<h1>Not here</h1>" },
      { status: 400, headers: JSON_TYPE, body: "null" },
      { status: 400, headers: JSON_TYPE, body: '{"error":"no"}' },
      { status: 200, headers: JSON_TYPE, body: '{"data":' },
      { status: 301, headers: { location: "https://elsewhere.example.com/" } },
      { status: 307, headers: { location: "https://elsewhere.example.com/" } },
    ];
    const { client, requests } = await aClient(rubbish);
    for (const { status } of rubbish as readonly { status: number }[]) {
      const error = await failureOf(client.createProfile({ title: "A shop" }));
      expect(error).toBeInstanceOf(RelayConnectionError);
      expect(error).toMatchObject({ status });
      expect([status, /Does baseUrl end in \/api\?/.test(String(error))]).toEqual([
        status,
        status === 404,
      ]);
      if (status > 300 && status < 400)
        expect(String(error)).toContain("redirects to https://elsewhere.example.com/. Change base");
    }
    expect(requests).toHaveLength(rubbish.length);
  });

  test("a read doesn't follow to another address, where it would lose its credential", async () => {
    const moved = { status: 308, headers: { location: `${server.baseUrl}/v1/me?secret=1` } };
    const { client, requests } = await aClient([moved]);
    const error = await failureOf(client.getMe());
    expect(error).toBeInstanceOf(RelayConnectionError);
    expect(String(error)).toContain(`redirects to ${server.baseUrl}/v1/me. Change baseUrl`);
    expect(requests).toHaveLength(1);
  });

  test("a relay that isn't there is reported with the system's reason", async () => {
    const closed = new RelayClient({ baseUrl: "http://127.0.0.1:9/api", key: publisher.key });
    const error = await failureOf(closed.createProfile({ title: "A shop" }));
    expect(String(error)).toMatch(/got no answer: fetch failed: .*(?:ECONNREFUSED|bad port)/);
  });

  test("an answer without an end is not read to its end", async () => {
    let sent = 0;
    const part = new Uint8Array(1024 * 1024).fill(32);
    async function* endless() {
      for (;;) {
        sent += part.length;
        yield part;
        await new Promise(setImmediate);
      }
    }
    const { client } = await aClient([{ status: 200, headers: JSON_TYPE, body: endless() }]);
    const error = await failureOf(client.createProfile({ title: "A shop" }));
    expect(String(error)).toContain("longer than");
    expect(sent).toBeLessThan(200 * 1024 * 1024);
  });

  test("the limit of a call holds for all of its attempts and waits", async () => {
    const { client, requests } = await aClient(["hang", limited, busy, "hang"], { timeoutMs: 200 });
    await expect(client.getMe()).rejects.toThrow("has no answer after 200 ms");
    const wait = refusal(429, "rate_limited", { "retry-after": "3600" });
    const { client: other, requests: others } = await aClient([wait]);
    // It can't be obeyed within the limit.
    expect(isRelayError(await failureOf(other.getMe()), "rate_limited")).toBe(true);
    expect([requests.length, others.length]).toEqual([1, 1]);
  });

  test("a signal ends a call with its reason, in an attempt and in a wait", async () => {
    const reason = new Error("The user left.");
    for (const trouble of ["hang", refusal(503, "not_ready", { "retry-after": "20" })] as const) {
      const { client, requests } = await aClient([trouble]);
      const abort = new AbortController();
      const call = failureOf(client.getMe({}, { signal: abort.signal }));
      await vi.waitFor(() => expect(requests).toHaveLength(1), PATIENCE_MS);
      abort.abort(reason);
      expect(await call).toBe(reason);
    }
    const { client, requests } = await aClient();
    expect(await failureOf(client.getMe({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(requests).toEqual([]);
  });
});

describe.concurrent("lists and waits", () => {
  test("a list has all items once, page by page, also after trouble", async () => {
    const prefix = uniqueKey();
    const { client, requests } = await aClient(["pass", "pass", "pass", "lose", busy]);
    for (const number of [1, 2, 3])
      await client.createProfile({ title: "A shop", externalId: `${prefix}-${number}` });
    const found: (string | null)[] = [];
    for await (const { externalId } of client.listProfiles({ limit: 1 })) {
      if (externalId?.startsWith(prefix) !== true) break;
      found.push(externalId);
    }
    expect(found).toEqual([3, 2, 1].map((number) => `${prefix}-${number}`));
    for await (const {
      data,
      page: { hasMore },
    } of client.listProfiles({ limit: 100 }).pages()) {
      expect(data.length).toBeGreaterThan(2);
      expect(hasMore).toBe(false);
    }
    expect(requests.filter(({ path }) => path.includes("limit=100"))).toHaveLength(1);
  });

  test("a list that leads in a circle is left", async () => {
    const body = JSON.stringify({ data: [], page: { nextCursor: "1", hasMore: true, limit: 1 } });
    const { client } = await aClient([1, 2, 3].map(() => ({ status: 200, body })));
    const pages = client.listKeys().pages();
    expect((await pages.next()).done).toBe(false);
    expect((await pages.next()).done).toBe(false);
    expect(await failureOf(pages.next())).toBeInstanceOf(RelayConnectionError);
  });

  test("waiting ends with its limit, with the post as it was read last", async () => {
    const scheduleAt = new Date(relay.clock.now().getTime() + 3_600_000).toISOString();
    const { id } = await publisher.accept({ ...aPost(), scheduleAt });
    const { client } = await aClient();
    const error = await failureOf(client.waitForPost(id, { timeoutMs: 500 }));
    expect(error).toBeInstanceOf(RelayTimeoutError);
    expect((error as RelayTimeoutError).post?.status).toBe("scheduled");
    const missing = await failureOf(client.waitForPost("pst_01KJW2M3E8W0R7QK9V3C5T1XAB"));
    expect(isRelayError(missing, "not_found")).toBe(true);
  });

  test("waiting outlasts a relay that can't be reached for a while", async () => {
    const { id } = await publisher.accept(aPost());
    await relay.drain();
    const { client } = await aClient(Array<Trouble>(4).fill(busy));
    expect((await client.waitForPost(id)).status).toBe("succeeded");
  });
});

test("an address that leads to no call is refused, with what it should be", () => {
  for (const baseUrl of [
    undefined,
    "",
    "relay.example.com/api",
    "ftp://relay.example.com",
    "https://",
    "https://relay.example.com/api/v1",
    "https://relay.example.com/api/v1/",
    "https://relay.example.com/api?code=1",
  ])
    expect(() => new RelayClient({ baseUrl, key: "sk_live_1" })).toThrow(
      `as far as /v1, such as https://relay.example.com/api, and not ${baseUrl}.`,
    );
  expect(() => Reflect.construct(RelayClient, [])).toThrow("and not undefined.");
});

test("an address and a key may have what copying adds", async () => {
  const client = new RelayClient({
    baseUrl: ` ${server.baseUrl}//\n`,
    key: ` ${publisher.key}\n`,
    profileId: undefined,
  });
  expect((await client.getMe()).id).toBe(publisher.application.platform.id);
});

test("a key that can't be one is refused, and is not in the error", () => {
  for (const key of ["", "sk_live_1\n2", "Bearer sk_live_1", '"sk_live_1"', "sk_live_1…"]) {
    const refused = expect(() => new RelayClient({ baseUrl: server.baseUrl, key }));
    refused.toThrow("The key or session is empty, or has characters that none has.");
  }
});

describe.concurrent("uploadFile", () => {
  const picture = async (type = "image/jpeg") =>
    new File([Uint8Array.from(await aPicture())], "blue.jpg", { type });

  /** A client whose bytes reach storage through the troubles of a list. */
  async function anUploader(troubles: readonly Trouble[], ofRelay: readonly Trouble[] = []) {
    const { client, requests } = await aClient(ofRelay);
    const create = client.createMedia.bind(client);
    const storage: TroubledRelay[] = [];
    const createMedia: typeof create = async (...args) => {
      const file = await create(...args);
      const url = new URL(file.upload?.url ?? "");
      const troubled = await troubledRelay(url.origin, troubles);
      opened.push(troubled);
      storage.push(troubled);
      const address = new URL(`${url.pathname}${url.search}`, troubled.baseUrl).href;
      return { ...file, upload: file.upload && { ...file.upload, url: address } };
    };
    Object.defineProperty(client, "createMedia", { value: createMedia });
    return { client, requests, puts: () => storage.flatMap((one) => one.requests) };
  }

  test("a file is announced, sent and completed, and a post shows it", async () => {
    const { client, requests } = await aClient();
    const progress: (readonly [number, number])[] = [];
    const file = await client.uploadFile(await picture(), {
      onProgress: (sent, total) => progress.push([sent, total]),
    });
    expect(file).toMatchObject({ status: "ready", filename: "blue.jpg", width: 640, upload: null });
    expect(progress).toEqual([
      [0, file.bytes],
      [file.bytes, file.bytes],
    ]);
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
    const post = { ...aPost(), mediaUrls: [file.url] };
    const ended = await client.waitForPost((await client.createPost(post)).id);
    expect(ended.legs.map(({ status, error }) => [status, error])).toEqual([["succeeded", null]]);
    expect(sandbox.posts().find(({ text }) => text === post.text)?.media).toHaveLength(1);
  });

  test("a file's bytes are read back", async () => {
    const { client } = await aClient();
    const blob = await picture();
    const { id } = await client.uploadFile(blob);
    const bytes = await client.getMediaContent({ mediaId: id });
    expect(Buffer.from(bytes).equals(Buffer.from(await blob.arrayBuffer()))).toBe(true);
  });

  test.each<[string, Trouble[], number]>([
    ["bytes that never arrive", ["lose", "lose"], 3],
    ["an answer that is lost after the bytes have arrived", ["lose answer"], 2],
    ["a storage that is busy", [{ status: 503 }, { status: 500 }], 3],
  ])("a file survives %s", async (_, troubles, attempts) => {
    const { client, puts } = await anUploader(troubles);
    expect((await client.uploadFile(await picture())).status).toBe("ready");
    expect(puts()).toHaveLength(attempts);
  });

  test("completes a file again after a lost answer", async () => {
    const { client, requests } = await anUploader([], ["pass", "lose answer", busy]);
    expect((await client.uploadFile(await picture())).status).toBe("ready");
    expect(requests).toHaveLength(4);
  });

  test("says why the bytes didn't arrive", async () => {
    const { client, puts } = await anUploader([{ status: 403 }]);
    const error = await failureOf(client.uploadFile(await picture()));
    expect(error).toBeInstanceOf(RelayConnectionError);
    expect(error).toMatchObject({ status: 403, message: "Storage answered 403." });
    expect(puts()).toHaveLength(1);
    const { client: other } = await anUploader(Array<Trouble>(4).fill("lose"));
    const unreachable = await failureOf(other.uploadFile(await picture()));
    expect(unreachable).toMatchObject({ message: "Storage can't be reached." });
  });

  test("refuses a file that is not what its type says, with the relay's words", async () => {
    const { client } = await aClient();
    const error = await failureOf(client.uploadFile(await picture("image/png")));
    expect(isRelayError(error, "media_rejected")).toBe(true);
    const unknown = await failureOf(client.uploadFile(await picture("text/html")));
    expect(isRelayError(unknown, "validation_failed")).toBe(true);
  });

  test("knows a HEIC by its name where the system tells no type", async () => {
    const { client } = await aClient();
    const photo = new Blob([await readFile("test/media/heics/blue.heic")]);
    const { contentType } = await client.uploadFile(photo, { filename: "IMG_1.HEIC" });
    expect(contentType).toBe("image/heic");
  });

  test("ends with the reason of its signal, and within its limit", async () => {
    const reason = new Error("The user left.");
    const { client, puts } = await anUploader(["hang"]);
    const abort = new AbortController();
    const upload = failureOf(client.uploadFile(await picture(), { signal: abort.signal }));
    await vi.waitFor(() => expect(puts()).toHaveLength(1), PATIENCE_MS);
    abort.abort(reason);
    expect(await upload).toBe(reason);
    const { client: other } = await anUploader(["hang"]);
    const late = await failureOf(other.uploadFile(await picture(), { timeoutMs: 1_500 }));
    expect((late as Error).name).toBe("TimeoutError");
  });
});
