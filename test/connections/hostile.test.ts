import { pageAnswer } from "../../src/shared/connections/connections.ts";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../setup/relay.ts";
import { Browser, formsOf, readable } from "./browser.ts";
import { anOwner, BASE, openWorld, type Owner, type World } from "./world.ts";
import { connectionsOf } from "../setup/stored.ts";

const HUGE_BYTES = 10 * 1024 * 1024;
const NOT_MASTODON = "does not respond like a Mastodon server";

type Play = (request: IncomingMessage, response: ServerResponse) => void;

/** Servers that somebody may type into the page's field, by what they do. */
const HOSTS: Readonly<Record<string, Play>> = {
  "huge.hostile.test": (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"title":"${"x".repeat(HUGE_BYTES)}"}`);
  },
  "elsewhere.hostile.test": (_request, response) => {
    response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
  },
  "inside.hostile.test": (_request, response) => {
    response.writeHead(301, { location: "https://inner.hostile.test/api/v2/instance" }).end();
  },
  "page.hostile.test": (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><script>alert(1)</script><h1>It works!</h1>");
  },
  "binary.hostile.test": (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  },
  "refusing.hostile.test": (_request, response) => {
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: "</p><script>alert(1)</script>" }));
  },
  "inner.hostile.test": (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  },
};

let world: World;
let owner: Owner;
let server: Server;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const host = String(request.headers["x-forwarded-host"] ?? request.headers.host);
    asked.push(host);
    (HOSTS[host] ?? ((_request, answer) => answer.writeHead(404).end()))(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  world = await openWorld({}, Object.fromEntries(Object.keys(HOSTS).map((host) => [host, origin])));
});
afterAll(async () => {
  await world.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  asked.length = 0;
  world.sandbox.reset();
  owner = await anOwner(world);
});

async function start(body: Readonly<Record<string, unknown>>): Promise<Answer> {
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  return await world.relay.call("POST", path, { key: owner.key, body });
}

async function connectUrl(body: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const answer = await start({ platforms: ["mastodon", "bluesky"], ...body });
  expect(answer.status).toBe(201);
  return answer.body.data.connectUrl as string;
}

async function submitInstance(instance: string): Promise<Answer> {
  const browser = new Browser(world);
  return await browser.submit(await browser.get(await connectUrl()), "mastodon", { instance });
}

describe("a server that means no good", () => {
  test.each(Object.keys(HOSTS).filter((host) => !host.startsWith("inner")))(
    "%s is told to be none of the network's, and nothing of it is shown",
    async (host) => {
      const answer = await submitInstance(host);
      expect(answer.status).toBe(422);
      expect(asked).toContain(host);
      expect(readable(answer.body)).toMatch(new RegExp(`${NOT_MASTODON}|could not be reached`));
      expect(answer.body).not.toMatch(/<script|It works|alert\(1\)|meta-data/);
      expect(answer.body.length).toBeLessThan(40_000);
      expect(await connectionsOf(world.services, owner)).toEqual([]);
    },
  );

  test.each([
    "javascript:alert(1)",
    "http://127.0.0.1:1",
    "169.254.169.254",
    "localhost",
    "[::1]",
    "mastodon.sandbox.test\r\nx-evil: 1",
    `${"a".repeat(300)}.test`,
    `"><script>alert(1)</script>`,
  ])("the address %j leads nowhere and is shown as text", async (instance) => {
    const answer = await submitInstance(instance);
    expect(answer.status).toBe(422);
    expect(answer.body).not.toContain("<script");
    expect(answer.headers.get("x-evil")).toBeNull();
    expect(answer.headers.get("location")).toBeNull();
  });
});

describe("a customer's branding that means no good is refused", () => {
  test.each([
    [{ logoUrl: "javascript:alert(1)" }],
    [{ logoUrl: "data:image/svg+xml,<svg onload=alert(1)>" }],
    [{ logoUrl: "http://cdn.customer.example.org/logo.png" }],
    [{ logoUrl: "https://user:password@cdn.customer.example.org/logo.png" }],
    [{ accentColor: "red;} body{background:url(//evil.test)}" }],
    [{ accentColor: "#12345" }],
    [{ name: "a\u202eb" }],
    [{ name: "x".repeat(81) }],
    [{ name: "" }],
    [{ backLabel: "a\nb" }],
  ])("a customer's branding that means no good is refused: %j", async (branding) => {
    expect((await start({ branding })).status).toBe(400);
  });

  test("a logo's address stays within its attribute", async () => {
    const logoUrl = `https://cdn.customer.example.org/a"onerror="alert(1)`;
    const url = await connectUrl({ branding: { logoUrl } });
    const { body: text } = await new Browser(world).get(url);
    expect(text).not.toMatch(/\sonerror=/);
  });

  test.each([
    "javascript:alert(1)",
    "http://app.customer.example.org/",
    "https://app.customer.example.org\\@evil.test/",
    "https://a:b@app.customer.example.org/",
    "https://app.customer.example.org/\r\nset-cookie: a=1",
    // Characters that end a directive or a source of the page's policy, in host names that URL parsers take.
    "https://x.com;frame-ancestors/",
    "https://x.com;script-src-elem/",
    "https://*.com/",
    "https://'self'/",
    "https://x.com,y/",
    "https://a_b.com/",
    "https://[2606:4700::1111]/",
    // Names and addresses that are not public.
    "https://localhost/",
    "https://127.0.0.1/",
    "https://169.254.169.254/latest",
    "https://10.0.0.5/",
    "https://printer.local/",
    "https://customer.test/",
    "https://intranet/",
    "https://app.example.org:22/",
  ])("a way back to %j", async (returnUrl) => {
    const answer = await start({ returnUrl });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.issues).toMatchObject([{ path: "returnUrl" }]);
  });

  test.each(["logoUrl", "faviconUrl", "privacyUrl", "termsUrl", "supportUrl"])(
    "a customer's branding that means no good is refused: a %s on no public host",
    async (field) => {
      for (const url of ["https://10.0.0.5/", "https://x.com;a/", "https://intranet/"]) {
        const answer = await start({ branding: { [field]: url } });
        expect(answer.status, url).toBe(400);
        expect(answer.body.error.details.issues).toMatchObject([{ path: `branding.${field}` }]);
      }
    },
  );

  test("every problem of a session's addresses is in one answer, beside those of other fields", async () => {
    const answer = await start({
      returnUrl: "https://intranet/",
      branding: { logoUrl: "https://10.0.0.5/", locale: "nl" },
    });
    const { issues } = answer.body.error.details;
    expect(issues.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      "branding.locale",
      "branding.logoUrl",
      "returnUrl",
    ]);
  });

  test("a way back may be a program of this machine where the settings allow its address", async () => {
    for (const returnUrl of ["http://localhost:3000/back", "http://127.0.0.1:3000/back"])
      expect((await start({ returnUrl })).status).toBe(201);
    expect((await start({ returnUrl: "http://192.168.0.7:3000/back" })).status).toBe(400);
  });

  test("no page is made with a source that could end its directive", () => {
    for (const source of ["https://x.com;frame-ancestors", "https://*.com", "https://a b", "*"])
      expect(() => pageAnswer(200, () => "", ["'self'", source])).toThrow("no source for a policy");
  });

  test("the page's policy forbids frames before it names any address", async () => {
    const { headers } = await new Browser(world).get(await connectUrl());
    expect(headers.get("content-security-policy")).toMatch(
      /^frame-ancestors 'none'; base-uri 'none'; /,
    );
  });
});

describe("what a browser sends", () => {
  test("what a browser sends can't choose where it is led to, nor put words on the page", async () => {
    const url = `${await connectUrl()}&returnUrl=https://evil.test&problem=Call+me&network=%3Cb%3E&linked=mastodon&choice=x`;
    const page = await new Browser(world).get(url);
    expect(page.status).toBe(200);
    expect(page.body).not.toMatch(/evil\.test|Call me|<b>/);
    expect(readable(page.body)).not.toContain("Mastodon is connected");
  });

  test("a language that a browser sends changes the language and nothing else", async () => {
    const url = await connectUrl();
    const answers = [`de"><script>`, "de\u00e9", "fr;q=1;q=0", ";;;,,,"].map((language) =>
      world.page("GET", url, { headers: { "accept-language": language } }),
    );
    for (const { status, body: text } of await Promise.all(answers)) {
      expect(status).toBe(200);
      expect(text).not.toContain("<script");
      expect(text).toMatch(/<html lang="(?:en|de|es|fr|pt)">/);
    }
  });

  const FORM = "application/x-www-form-urlencoded";

  test.each([
    ["of ten megabytes", 413, { type: FORM, rawBody: "x".repeat(HUGE_BYTES) }],
    ["that is none", 415, { type: "application/json", rawBody: "{}" }],
    ["that is no text", 400, { type: FORM, rawBody: Buffer.from([0xff, 0xfe]) }],
  ])(
    "%s is refused by a page in the reader's language",
    async (_what, status, { type, rawBody }) => {
      const headers = { "content-type": type, "accept-language": "de" };
      const answer = await world.relay.call("POST", "/v1/connect/ui/mastodon", {
        rawBody,
        headers,
      });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(readable(answer.body)).toContain("Das Formular konnte nicht gelesen werden");
    },
  );

  test("a body of ten megabytes with a good token is refused as well", async () => {
    const [form] = formsOf((await new Browser(world).get(await connectUrl())).body);
    const instance = "x".repeat(HUGE_BYTES);
    const answer = await world.page("POST", `${BASE}/v1/connect/ui/mastodon`, {
      form: { ...form?.fields, instance },
    });
    expect(answer.status).toBe(413);
  });

  test("back from a network in the name of another server is refused before its code is used", async () => {
    const browser = new Browser(world);
    const page = await browser.get(await connectUrl());
    const instance = "mastodon.sandbox.test";
    const started = await browser.submit(page, "mastodon", { instance });
    const authorize = await fetch(started.headers.get("location") ?? "", {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ decision: "allow" }),
    });
    const callback = new URL(authorize.headers.get("location") ?? "");
    callback.searchParams.set("iss", "https://evil.test");
    const before = world.sandbox.requests().length;
    const shown = await browser.follow(await browser.get(callback.href));
    expect(readable(shown.body)).toContain(NOT_MASTODON);
    expect(world.sandbox.requests().length).toBe(before);
    expect(await connectionsOf(world.services, owner)).toEqual([]);
  });
});
