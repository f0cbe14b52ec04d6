import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chapters, routes } from "../../../src/functions/routes.ts";
import { errorsOfRoute } from "../../../tools/reference/declared-answers.ts";
import { chaptersForPrograms, renderReference } from "../../../tools/reference/render-reference.ts";
import { anyone } from "../../../src/shared/http/access/access.ts";
import { encodingFor } from "../../../src/shared/http/reference/serve-reference.ts";
import { LEG_ERRORS, WARNING_CODES } from "../../../src/shared/networks/contract/errors.ts";
import { docUrl } from "../../../src/shared/runtime/doc-url.ts";
import { ERROR_CODES } from "../../../src/shared/runtime/error-catalog.ts";
import { casesOf } from "../../setup/long-check.ts";
import { startRelay } from "../../setup/relay.ts";
import { serveRelay } from "../../setup/relay-server.ts";
import { forFile } from "../../setup/for-file.ts";

const CHROMIUM = "/usr/bin/chromium";
const rendered = renderReference(chapters).documents;
const programRoutes = chaptersForPrograms(chapters).flatMap((chapter) => chapter.routes);
const { docs: text } = rendered;
/** The samples of a language, as a reader would paste them. */
function codeOf(language: string): string[] {
  const samples = text.matchAll(
    new RegExp(`<pre class="${language}"[^>]*><code>([^]*?)</code>`, "g"),
  );
  const plain: Readonly<Record<string, string>> = {
    lt: "<",
    gt: ">",
    amp: "&",
    quot: '"',
    "#39": "'",
  };
  return [...samples].map(([, code = ""]) =>
    code
      .replace(/<[^>]*>/g, "")
      .replace(/&(lt|gt|amp|quot|#39);/g, (_all, name: string) => plain[name] ?? ""),
  );
}
const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

const relay = forFile(() => startRelay());
const server = forFile(() => serveRelay(relay));

describe("the reference page", () => {
  test("the paragraph that an API error links to says what to do", () => {
    for (const code of ERROR_CODES) {
      const start = text.indexOf(`<div id="error-${code}">`);
      const paragraph = text.slice(start, text.indexOf("</div>", start));
      expect([code, paragraph]).toEqual([
        code,
        expect.stringMatching(/<p>What to do: .{8}[^]*The same request again: ./),
      ]);
    }
  });

  test("the reference page has every operation, with its place and who may call", () => {
    for (const { method, path, spec } of programRoutes) {
      const start = text.indexOf(`<article id="${spec.operationId}"`);
      expect(start, spec.operationId).toBeGreaterThan(0);
      const section = text.slice(start, text.indexOf("</article>", start));
      expect(section).toContain(`>${method}</span>`);
      expect(section).toContain(`<code>/${path}</code>`);
      expect(section).toContain("Who may call");
    }
  });

  test("the reference page lists the addresses that browsers and networks call, and no operation of them", () => {
    const list = text.slice(text.indexOf('<section id="addresses"'));
    const addresses = routes.filter(({ spec }) => spec.calledBy !== undefined);
    expect(addresses.length).toBeGreaterThan(10);
    for (const { path, spec } of addresses) {
      expect(list).toContain(`<code>/${path}</code>`);
      expect(text).not.toContain(`id="${spec.operationId}"`);
    }
  });

  test("the reference page has every error code that can be answered, once", () => {
    const codes = new Set(routes.flatMap((route) => errorsOfRoute(route)));
    for (const code of codes) expect(ids.filter((id) => id === `error-${code}`)).toHaveLength(1);
  });

  test("the reference page has the paragraph that each code's docUrl names", () => {
    const base = "https://relay.example.net/api";
    const found = (address: string) => ids.filter((id) => `${base}/docs#${id}` === address);
    for (const code of ERROR_CODES) expect(found(docUrl(base, "request", code))).toHaveLength(1);
    for (const code of [...Object.keys(LEG_ERRORS), ...WARNING_CODES])
      expect(found(docUrl(base, "leg", code))).toHaveLength(1);
  });

  test("the reference page is where refusals send their readers, on a route and beside all routes", async () => {
    const address = (code: string) => `${relay.services.config.publicBaseUrl}/docs#error-${code}`;
    const unknown = await relay.call("GET", "/nowhere");
    expect(unknown.body.error.docUrl).toBe(address("not_found"));
    const nobody = await relay.call("GET", "/v1/posts");
    expect(nobody.body.error.docUrl).toBe(address("unauthenticated"));
  });

  test("the reference page has a chapter for what holds everywhere", () => {
    for (const id of ["authentication", "idempotency", "pagination", "rate-limits", "errors"])
      expect(ids).toContain(id);
  });

  test("leads nowhere that is not there, and names everything once", () => {
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id = ""]) => id);
    expect(targets.length).toBeGreaterThan(programRoutes.length);
    expect([...new Set(targets)].filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("shows limits, defaults and a call to paste", () => {
    expect(text).toContain("at most 63,206 characters");
    expect(text).toContain("60 to 7,200");
    expect(text).toContain("default 900");
    expect(text).toContain("Idempotency-Key: order-20391-announcement");
  });

  test("calls each operation by one name, in contents, heading and OpenAPI", () => {
    const document = JSON.parse(rendered.openapi);
    for (const { method, path, spec } of programRoutes) {
      const { summary } = document.paths[`/${path}`][method.toLowerCase()];
      const title = summary.replaceAll("'", "&#39;");
      const link = `<a href="#${spec.operationId}">`;
      const inContents = `${link}<span class="method ${method.toLowerCase()}">${method}</span> ${title}</a>`;
      expect(text.split(inContents), spec.operationId).toHaveLength(2);
      expect(text.split(`${link}${title}</a>`), spec.operationId).toHaveLength(2);
    }
  });

  test("the errors that every call has are one fold of each operation, below its own", () => {
    const codes = (part: string) =>
      [...part.matchAll(/href="#error-(\w+)"/g)].map(([, code]) => code);
    const errorsIn = (operationId: string) => {
      const start = text.indexOf(`<article id="${operationId}"`);
      const section = text.slice(start, text.indexOf("</article>", start));
      return section.split(/<summary>\s*Common errors: /).map(codes);
    };
    const [own = [], common = []] = errorsIn("createPost");
    expect(common).toEqual(
      expect.arrayContaining(["unauthenticated", "platform_closed", "rate_limited"]),
    );
    expect(own).toEqual(expect.arrayContaining(["idempotency_conflict", "insufficient_tokens"]));
    expect(own.filter((code) => common.includes(code))).toEqual([]);
    // The credentials of a login are in its body.
    expect(errorsIn("logIn")[0]).toContain("invalid_credentials");
  });

  test("posts are the first operations, and no code scrolls within the page", () => {
    expect(text.indexOf('<section id="posts"')).toBeLessThan(
      text.indexOf('<section id="profiles"'),
    );
    expect(/<article id="(\w+)"/.exec(text)?.[1]).toBe("validatePost");
    expect(text).not.toMatch(
      /(?:pre|\.code|\.samples) \{[^}]*(?:max-height|overflow(?:-y)?: auto)/,
    );
  });

  test("the reference page has each call in three languages, which a parser of each reads", () => {
    for (const { spec } of programRoutes) {
      const start = text.indexOf(`<article id="${spec.operationId}"`);
      const section = text.slice(start, text.indexOf("</article>", start));
      for (const language of ["sh", "js", "python"])
        expect(section.split(`<pre class="${language}"`), spec.operationId).toHaveLength(2);
    }
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
    const scripts = codeOf("js");
    expect(scripts).toHaveLength(programRoutes.length);
    for (const script of scripts) expect(() => AsyncFunction(script), script).not.toThrow();
    const read = (program: string, ...args: string[]) =>
      spawnSync(program, args, { input: JSON.stringify(codeOf("python")), encoding: "utf8" });
    const parse = "import ast, json, sys; [ast.parse(text) for text in json.load(sys.stdin)]";
    const python = read("python3", "-c", parse);
    if (python.error === undefined) expect(python.stderr).toBe("");
    for (const script of codeOf("sh")) expect(read("sh", "-n", "-c", script).stderr).toBe("");
  });

  test("loads nothing, runs its script alone, calls this machine alone and may be framed by nobody", async () => {
    const { status, headers, body } = await relay.call("GET", "/docs");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = headers.get("content-security-policy") ?? "";
    const hashOf = (element: string) => {
      const [, content = ""] = new RegExp(`<${element}>([^]*?)</${element}>`).exec(body) ?? [];
      return createHash("sha256").update(content).digest("base64");
    };
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain(`style-src 'sha256-${hashOf("style")}'`);
    expect(policy).toContain(`script-src 'sha256-${hashOf("script")}'`);
    // Only in a local run is the relay at these addresses, and only there a page may send a call.
    expect(policy).toContain("connect-src http://localhost:* http://127.0.0.1:*;");
    expect(policy.replace(/connect-src [^;]*/, "")).not.toMatch(/unsafe|https?:|\*/);
    expect(body.match(/<(?:script|style|link)\b/g)).toEqual(["<link", "<style", "<script"]);
    expect(body).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect(body).not.toMatch(/<img|<iframe| style=| on\w+="/i);
  });
});

describe("the reference as text", () => {
  test("the reference as text has every call, field and code of the page, and one sample of each call", () => {
    const { markdown } = rendered;
    for (const { method, path } of programRoutes)
      expect(markdown).toContain(`${method} \`/${path}\``);
    for (const code of ERROR_CODES) expect(markdown).toContain(`\`${code}\``);
    expect(markdown.split("```sh")).toHaveLength(programRoutes.length + 1);
    expect(markdown).not.toMatch(/<\/?(?:p|div|span|li|code)\b|&(?:lt|gt|amp);|\n{3}/);
    expect(markdown).toContain("\n### Create a post\n");
    expect(markdown).toContain("\n[OpenAPI document](v1/openapi.json) · [Markdown](docs.md)");
  });

  test("the reference as text has an index in the form of llmstxt.org, with this relay's address and name", async () => {
    const { headers, body } = await relay.call("GET", "/llms.txt");
    const { publicBaseUrl } = relay.services.config;
    expect(headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const [title, , quote] = String(body).split("\n");
    expect([title, quote?.startsWith("> ")]).toEqual(["# Publishing Relay API", true]);
    expect(body).toContain(`(${publicBaseUrl}/docs.md)`);
    for (const { spec } of programRoutes)
      expect(body).toContain(`(${publicBaseUrl}/docs#${spec.operationId})`);
    expect(body).not.toContain("relay.invalid");
  });
});

describe("documents of the reference", () => {
  const DOCUMENTS = ["/docs", "/docs.md", "/llms.txt", "/v1/openapi.json"];
  const fetched = (path: string, accepted: string) =>
    relay.call("GET", path, { headers: { "accept-encoding": accepted } });

  test.each(DOCUMENTS)("%s comes as the reader takes it, in less than 120 KB", async (path) => {
    const plain = await fetched(path, "identity");
    expect(plain.headers.get("content-encoding")).toBeNull();
    const text = typeof plain.body === "string" ? plain.body : JSON.stringify(plain.body);
    for (const [accepted, encoding, decode] of [
      ["gzip, deflate, br", "br", brotliDecompressSync],
      ["gzip;q=1.0, *;q=0", "gzip", gunzipSync],
    ] as const) {
      const { headers, body } = await fetched(path, accepted);
      expect(headers.get("content-encoding")).toBe(encoding);
      expect(headers.get("vary")).toBe("Accept-Encoding");
      expect(decode(body).toString()).toBe(text);
      expect(body.length).toBeLessThan(120_000);
    }
    expect(plain.headers.get("vary")).toBe("Accept-Encoding");
  });

  test("documents of the reference are the only answers that are ever compressed", () => {
    const declaring = routes.filter(({ spec }) => spec.answerHeaders?.includes("Content-Encoding"));
    expect(declaring.map(({ path }) => `/${path}`).toSorted()).toEqual(DOCUMENTS.toSorted());
    // An answer whose headers its route does not declare never comes out of a test: see `checkDeclared`.
    expect(declaring.every(({ spec }) => spec.access === anyone)).toBe(true);
  });

  test.each([
    [null, "identity"],
    ["", "identity"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["*;q=0", "identity"],
    ["GZIP ; q=0.5", "gzip"],
    ["deflate", "identity"],
  ] as const)("take %j as a wish for %s", (accepted, encoding) => {
    expect(encodingFor(accepted)).toBe(encoding);
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
        if (width < 960) await tab.locator("label[for=menu]").click();
        await tab.locator("#q").fill("idempotency posts");
        expect(await tab.locator("#results a").first().getAttribute("href")).toMatch(/^#/);
        for (const [words, id] of [
          ["statistics", "getStats"],
          ["find profile", "listProfiles"],
          ["posts that need attention", "listApplicationPosts"],
        ] as const) {
          await tab.locator("#q").fill(words);
          const hrefs = tab.locator("#results a");
          expect([
            words,
            await hrefs.evaluateAll((all) => all.map((one) => one.getAttribute("href"))),
          ]).toEqual([words, expect.arrayContaining([`#${id}`])]);
        }
        for (const [words, id] of [
          ["attention", "listApplicationPosts"],
          ["need attention", "listApplicationPosts"],
          ["problem", "listApplicationPosts"],
          ["name starts", "listProfiles"],
          ["starts with", "listProfiles"],
          ["prefix", "listProfiles"],
          ["month", "getStats"],
          ["insufficient_tokens", "error-insufficient_tokens"],
          ["upload", "createMedia"],
          ["profile", "createProfile"],
          ["mediaUrls", "createPost"],
        ] as const) {
          await tab.locator("#q").fill(words);
          const links = await tab.locator("#results a").all();
          const first = links.slice(0, 3).map((link) => link.getAttribute("href"));
          expect([words, await Promise.all(first)]).toEqual([
            words,
            expect.arrayContaining([`#${id}`]),
          ]);
        }
        for (const inside of ["pload", "rofile"]) {
          await tab.locator("#q").fill(inside);
          expect([inside, await tab.locator("#count").textContent()]).toEqual([
            inside,
            "0 results",
          ]);
        }
        const title = tab.locator(".top a");
        expect(await title.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
        await tab.locator("#q").fill("insufficient_tokens");
        expect(await tab.locator("#results small").allTextContents()).toEqual(
          expect.arrayContaining(["API error", "Leg error or finding"]),
        );
        await tab.locator("#q").fill("create post");
        await tab.locator("#q").press("Enter");
        expect(tab.url()).toMatch(/#createPost$/);
        const about = await tab.locator("#createPost > .about").boundingBox();
        const code = await tab.locator("#createPost > .samples").boundingBox();
        expect((code?.x ?? 0) > (about?.x ?? 0) + 300).toBe(width > 1_200);
        // The tabs are radio buttons: arrows change the language, here and in every other box.
        await tab.locator('#createPost [value="sh"]').focus();
        await tab.keyboard.press("ArrowLeft");
        expect(await tab.locator('#getPost [value="python"]').isChecked()).toBe(true);
        expect(await tab.locator("#createPost pre.js").isVisible()).toBe(false);
        expect(await tab.locator("#createPost pre.python").isVisible()).toBe(true);
        const copy = tab.locator("#createPost .tabbed button").first();
        await copy.click();
        await expect.poll(() => copy.textContent()).toMatch(/^(?:Copied|Selected)$/);
        const marked = "document.querySelector('#contents [aria-current]')?.hash";
        await expect.poll(() => tab.evaluate(marked)).toBe("#createPost");
        if (width < 960) {
          await tab.locator("label[for=menu]").click();
          await tab.locator("#q").fill("");
          await tab.locator('#contents a[href="#getPost"]').click();
          expect(tab.url()).toMatch(/#getPost$/);
          expect(await tab.locator("#contents").isVisible()).toBe(false);
        }
        // Escape empties the search first, and then closes the contents where they are a layer.
        await tab.keyboard.press("Control+k");
        await tab.keyboard.type("tokens");
        await tab.keyboard.press("Escape");
        expect(await tab.locator("#q:focus").inputValue()).toBe("");
        expect(await tab.locator("#contents").isVisible()).toBe(true);
        await tab.keyboard.press("Escape");
        expect(await tab.locator("#contents").isVisible()).toBe(width > 960);
        expect(await tab.locator("#menu:focus").count()).toBe(width > 960 ? 0 : 1);
        expect(await tab.evaluate(wide)).toBe(width);
        const isWhite = `getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`;
        expect(await tab.evaluate(isWhite)).toBe(colorScheme === "light");
        const other = colorScheme === "light" ? "Dark" : "Light";
        await tab.getByRole("button", { name: other, exact: true }).click();
        await tab.reload();
        expect(await tab.evaluate(isWhite)).toBe(colorScheme === "dark");
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    60_000,
  );

  test("the fields of a named type open where it is named, and code stays in sight next to them", async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    try {
      const tab = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
      await tab.goto(`${server.baseUrl}/docs#createPost`);
      const field = (name: string) =>
        tab
          .locator("#createPost .fields li")
          .filter({ has: tab.locator(`> .name:text-is("${name}")`) })
          .first();
      const open = (name: string) => field(name).locator("> details > summary").press("Enter");
      await open("platformOptions");
      await open("mastodon");
      expect(await field("mastodon").locator("> details > .fields").isVisible()).toBe(true);
      const ids = await tab.evaluate<string[]>(
        "[...document.querySelectorAll('[id]')].map((one) => one.id)",
      );
      expect(new Set(ids).size).toBe(ids.length);
      for (const operation of ["createPost", "listPosts"]) {
        const samples = tab.locator(`#${operation} > .samples`);
        const article = tab.locator(`#${operation}`);
        await article.evaluate((one) => one.scrollIntoView({ block: "end" }));
        const box = await samples.boundingBox();
        const end = (box?.y ?? 0) + (box?.height ?? 0);
        expect([operation, end > 400 && end <= 801]).toEqual([operation, true]);
      }
    } finally {
      await browser.close();
    }
  });
});
