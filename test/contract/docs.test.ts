import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chapters, routes } from "../../src/functions/routes.ts";
import { errorsOfRoute } from "../../src/shared/http/declared-answers.ts";
import { docsPage } from "../../src/shared/http/reference/docs-page.ts";
import { LEG_ERRORS, WARNING_CODES } from "../../src/shared/networks/contract/errors.ts";
import { docUrl } from "../../src/shared/runtime/doc-url.ts";
import { ERROR_CODES } from "../../src/shared/runtime/errors.ts";
import { casesOf } from "../setup/long-check.ts";
import { startRelay } from "../setup/relay.ts";
import { serveRelay, type RelayServer } from "../setup/relay-server.ts";
import type { Relay } from "../setup/relay.ts";

const CHROMIUM = "/usr/bin/chromium";
const { text } = docsPage(chapters, "https://relay.example.net/api");
const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

let relay: Relay;
let server: RelayServer;
beforeAll(async () => {
  relay = await startRelay();
  server = await serveRelay(relay);
});
afterAll(async () => {
  await server.close();
  await relay.stop();
});

describe("the reference page", () => {
  test("has every operation, with its place and who may call", () => {
    for (const { method, path, spec } of routes) {
      const start = text.indexOf(`<article id="${spec.operationId}"`);
      expect(start, spec.operationId).toBeGreaterThan(0);
      const section = text.slice(start, text.indexOf("</article>", start));
      expect(section).toContain(`>${method}</span>`);
      expect(section).toContain(`<code>/${path}</code>`);
      expect(section).toContain("Who may call");
    }
  });

  test("has every error code that can be answered, once", () => {
    const codes = new Set(routes.flatMap((route) => errorsOfRoute(route)));
    for (const code of codes) expect(ids.filter((id) => id === `error-${code}`)).toHaveLength(1);
  });

  test("has the paragraph that each code's docUrl names", () => {
    const base = "https://relay.example.net/api";
    const found = (address: string) => ids.filter((id) => `${base}/docs#${id}` === address);
    for (const code of ERROR_CODES) expect(found(docUrl(base, "request", code))).toHaveLength(1);
    for (const code of [...Object.keys(LEG_ERRORS), ...WARNING_CODES])
      expect(found(docUrl(base, "leg", code))).toHaveLength(1);
  });

  test("is where refusals send their readers, on a route and beside all routes", async () => {
    const address = (code: string) => `${relay.services.config.publicBaseUrl}/docs#error-${code}`;
    const unknown = await relay.call("GET", "/nowhere");
    expect(unknown.body.error.docUrl).toBe(address("not_found"));
    const nobody = await relay.call("GET", "/v1/posts");
    expect(nobody.body.error.docUrl).toBe(address("unauthenticated"));
  });

  test("has a chapter for what holds everywhere", () => {
    for (const id of ["authentication", "idempotency", "pagination", "rate-limits", "errors"])
      expect(ids).toContain(id);
  });

  test("leads nowhere that is not there, and names everything once", () => {
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id = ""]) => id);
    expect(targets.length).toBeGreaterThan(routes.length);
    expect([...new Set(targets)].filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("shows limits, defaults and a call to paste", () => {
    expect(text).toContain("at most 63,206 characters");
    expect(text).toContain("60 to 7,200");
    expect(text).toContain("default 900");
    expect(text).toContain("Idempotency-Key: order-20391-announcement");
  });

  test("runs nothing, loads nothing and may be framed by nobody", async () => {
    const { status, headers, body } = await relay.call("GET", "/docs");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = headers.get("content-security-policy") ?? "";
    const [, nonce] = /style-src 'nonce-([\w-]+)'/.exec(policy) ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(body).toContain(`<style nonce="${nonce}">`);
    expect(body).not.toMatch(/<script|<img|<link|<iframe| style=| on\w+=/i);
    const again = await relay.call("GET", "/docs");
    expect(again.headers.get("content-security-policy")).not.toBe(policy);
  });
});

describe.skipIf(!existsSync(CHROMIUM))("in a browser (needs Debian's chromium)", () => {
  test.each(
    casesOf(
      [
        [360, "light"],
        [1280, "dark"],
        [360, "dark"],
        [1280, "light"],
      ] as const,
      2,
    ),
  )(
    "%i pixels wide and %s, it fits and breaks no policy",
    async (width, colorScheme) => {
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
      try {
        const tab = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const complaints: string[] = [];
        tab.on("console", (message) => complaints.push(message.text()));
        tab.on("pageerror", (error) => complaints.push(error.message));
        await tab.goto(`${server.baseUrl}/docs`);
        const wide = "document.documentElement.scrollWidth";
        expect(await tab.evaluate(wide)).toBe(width);
        for (const summary of await tab.locator("#createPost summary").all()) await summary.click();
        expect(await tab.evaluate(wide)).toBe(width);
        const ground = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(ground === "rgb(255, 255, 255)").toBe(colorScheme === "light");
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    60_000,
  );
});
