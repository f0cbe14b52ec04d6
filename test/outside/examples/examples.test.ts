import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { linkInBrowser } from "../../../dev/demo-visit.ts";
import { kill, newPlace, readDemo, start, until } from "../../process/start/started.ts";
import type { Place, Started } from "../../process/start/started.ts";
import { freePort } from "../../setup/free-ports.ts";

const START_TIMEOUT_MS = 180_000;
const EXAMPLE_MS = 60_000;
const SETTLE_MS = 60_000;
const POLL_MS = 500;

const lacking = (...commands: string[]) =>
  commands.filter((command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status !== 0);
const shellLacks = lacking("bash", "curl");
const pythonLacks = lacking("python3");
/** For the report: why a part was skipped. */
const because = (lacks: readonly string[]) =>
  lacks.length === 0 ? "" : ` (skipped: there is no ${lacks.join(", no ")} here)`;

interface Ended {
  readonly code: number;
  readonly output: string;
}

describe("the examples, with what npm start runs", () => {
  let place: Place;
  let started: Started;
  let backendPort: number;

  beforeAll(async () => {
    place = await newPlace();
    backendPort = await freePort();
    started = await start(place);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await kill(started, place);
    await place.remove();
  }, START_TIMEOUT_MS);

  const environment = () => ({
    PATH: process.env["PATH"],
    RELAY_DEMO: join(place.folder, "demo.json"),
  });

  /** Runs a program to its end; its code and all that it said. */
  const runExample = (command: string, ...args: string[]) =>
    new Promise<Ended>((resolve) => {
      const options = { env: environment(), timeout: EXAMPLE_MS };
      execFile(command, args, options, (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error === null ? 0 : -1;
        resolve({ code, output: stdout + stderr });
      });
    });

  const published = async (text: string) => {
    const answer = await fetch(`${readDemo(place).sandboxUrl}/_sandbox/posts`);
    const { posts } = (await answer.json()) as { posts: { network: string; text: string }[] };
    return posts.filter((post) => post.text === text).map(({ network }) => network);
  };

  describe.skipIf(shellLacks.length > 0)(`the shell script${because(shellLacks)}`, () => {
    test(
      "publishes a text of any characters and ends with 0",
      async () => {
        const text = 'Braces {} "quotes" \\ and\na second line';
        const { code, output } = await runExample("examples/publish.sh", text);
        expect(output).toMatch(/^accepted as pst_/m);
        expect(output).toMatch(/^bluesky succeeded$/m);
        expect(output).toMatch(/^https:\/\/bsky\.app\//m);
        expect(code).toBe(0);
        expect((await published(text)).sort()).toEqual(["bluesky", "mastodon"]);
      },
      EXAMPLE_MS,
    );

    test(
      "ends with 1 when a network refused, and says which one and why",
      async () => {
        const text = "Refused [fail:text_invalid]";
        const { code, output } = await runExample("examples/publish.sh", text, "mastodon");
        expect(output).toMatch(/^mastodon failed\n {2}text_invalid: .*\. Change the text\./m);
        expect(code).toBe(1);
      },
      EXAMPLE_MS,
    );

    test("shows why a request was refused", async () => {
      const { code, output } = await runExample("examples/publish.sh", "Hello", "nowhere");
      expect(output).toContain("refused with 400");
      expect(output).toContain("validation_failed");
      expect(code).toBe(1);
    });
  });

  describe.skipIf(pythonLacks.length > 0)(`the Python script${because(pythonLacks)}`, () => {
    const python = (...args: string[]) => runExample("python3", "examples/publish.py", ...args);

    test(
      "publishes a picture, says where, and ends with 0",
      async () => {
        const picture = [
          "--image",
          "https://media.sandbox.test/portrait.jpg",
          "--alt",
          "A portrait",
        ];
        const networks = ["--to", "bluesky", "mastodon"];
        const { code, output } = await python("From Python", ...networks, ...picture);
        expect(output).toMatch(/^mastodon: succeeded https:/m);
        expect(output).toContain("succeeded, 20 tokens");
        expect(code).toBe(0);
      },
      EXAMPLE_MS,
    );

    test(
      "says why a leg failed, and what to do about it",
      async () => {
        const { code, output } = await python("Refused [fail:text_invalid]", "--to", "mastodon");
        expect(output).toMatch(/^mastodon: failed Mastodon does not accept this text\. Change /m);
        expect(code).toBe(1);
      },
      EXAMPLE_MS,
    );

    test("schedules", async () => {
      const at = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
      const { code, output } = await python("Tomorrow", "--to", "bluesky", "--at", at);
      expect(output).toContain("is scheduled");
      expect(code).toBe(0);
    });

    test("stops before it publishes what no network takes", async () => {
      const { code, output } = await python("No picture", "--to", "instagram");
      expect(output).toContain("Instagram accepts no post without a picture or a video.");
      expect(code).toBe(1);
    });

    test("says why a request was refused", async () => {
      const { code, output } = await python("Hello", "--to", "nowhere");
      expect(output).toContain("400 validation_failed");
      expect(code).toBe(1);
    });
  });

  describe("the planner", () => {
    let planner: ChildProcess;
    let output = "";
    let at = "";
    const page = async (path = "/") => (await fetch(at + path)).text();
    const keyIn = (text: string) => /name="key" value="([^"]+)"/.exec(text)?.[1] ?? "";
    const plan = (fields: Record<string, string>, platforms: readonly string[]) => {
      const body = new URLSearchParams(fields);
      for (const platform of platforms) body.append("platforms", platform);
      return fetch(`${at}/posts`, { method: "POST", body, redirect: "manual" });
    };

    beforeAll(async () => {
      const port = await freePort();
      at = `http://localhost:${port}`;
      const env = { ...environment(), PLANNER_PORT: String(port) };
      planner = spawn(process.execPath, ["examples/planner.mjs"], { env });
      for (const stream of [planner.stdout, planner.stderr])
        stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await until(() => output.includes("Open http"), SETTLE_MS);
    });

    afterAll(async () => {
      const ended = once(planner, "exit");
      planner.kill();
      await ended;
    });

    test("says what is wrong with a post, and keeps what was written", async () => {
      const key = keyIn(await page());
      const text = "No picture <here>";
      const refused = await plan({ key, text }, ["instagram"]);
      const shown = await refused.text();
      expect(refused.status).toBe(422);
      expect(shown).toContain("Instagram accepts no post without a picture or a video.");
      expect(shown).toContain("No picture &#60;here&#62;</textarea>");
      expect(shown).toContain('value="instagram" checked');
      const late = await plan({ key, text, when: "2020-01-01T00:00:00.000Z" }, ["bluesky"]);
      expect([late.status, await late.text()]).toEqual([
        422,
        expect.stringContaining("Choose a time within the next year"),
      ]);
    });

    test("publishes a picture, and says each network's problem in a line of its own", async () => {
      expect(await page()).toContain('name="picture" value=""');
      const text = "A picture, from the planner";
      const wrong = { key: keyIn(await page()), text, picture: "http://localhost/a.jpg" };
      const refused = await plan(wrong, ["instagram"]);
      const shown = await refused.text();
      expect(refused.status).toBe(422);
      expect(shown).toContain("The picture needs an https address.");
      expect(shown).toContain(`name="picture" value="${wrong.picture}"`);
      const when = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
      const picture = "https://media.sandbox.test/photo.jpg";
      const form = { key: keyIn(await page()), text, picture, when };
      expect((await plan(form, ["instagram", "bluesky"])).status).toBe(303);
      const item = (list: string) => list.split("<li>").find((one) => one.includes(text)) ?? "";
      const [, id = ""] = /\/posts\/(pst_\w+)\/cancel/.exec(item(await page("/posts"))) ?? [];
      await fetch(`${at}/posts/${id}/cancel`, { method: "POST", redirect: "manual" });
      expect(item(await page("/posts"))).toMatch(/instagram: [^,<]+\.<br>bluesky: [^,<]+\.\n/);
    });

    test("schedules a form once that is sent twice, and cancels the post", async () => {
      const when = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
      const form = { key: keyIn(await page()), text: "Tomorrow, from the planner", when };
      const sent = [await plan(form, ["bluesky"]), await plan(form, ["bluesky"])];
      expect(sent.map(({ status }) => status)).toEqual([303, 303]);
      const shown = await page("/posts");
      expect(shown.split(form.text)).toHaveLength(2);
      expect(shown).toContain(`<b>scheduled</b> <time>${when}</time>`);
      const [, id = ""] = /\/posts\/(pst_\w+)\/cancel/.exec(shown) ?? [];
      for (const time of ["first", "second"]) {
        const options = { method: "POST", redirect: "manual" } as const;
        const canceled = await fetch(`${at}/posts/${id}/cancel`, options);
        expect(canceled.status, time).toBe(303);
      }
      expect(await page("/posts")).toContain("<b>canceled</b>");
    });

    test(
      "publishes, and learns from webhooks how the post ended",
      async () => {
        const changes = await fetch(`${at}/changes`);
        const text = "Now, from the planner";
        await plan({ key: keyIn(await page()), text }, ["bluesky", "mastodon"]);
        const isDone = async () =>
          (await page("/posts"))
            .split("</li>")
            .some((item) => item.includes("<b>succeeded</b> <a href=") && item.includes(text));
        await until(isDone, EXAMPLE_MS, POLL_MS);
        expect((await published(text)).sort()).toEqual(["bluesky", "mastodon"]);
        await until(() => output.includes("post.succeeded\n"), SETTLE_MS);
        const first = await changes.body?.getReader().read();
        expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^data: changed\n/);
      },
      EXAMPLE_MS,
    );

    test("leads to posts that the sandbox shows, and to the connect page", async () => {
      const [, shown = ""] = /<a href="([^"]+)">bluesky<\/a>/.exec(await page("/posts")) ?? [];
      expect(shown).toBe(`${readDemo(place).sandboxUrl}/#bluesky`);
      const started = await fetch(`${at}/connect`, { method: "POST", redirect: "manual" });
      const connectPage = await fetch(started.headers.get("location") ?? "");
      expect([started.status, connectPage.status]).toEqual([303, 200]);
    });

    test("takes nothing that the relay didn't sign, and no form of another site", async () => {
      const headers = { "x-social-restapi-signature": `t=${Math.floor(Date.now() / 1000)},v1=00` };
      const forged = { id: "evt_1", type: "post.failed", data: {} };
      const options = { method: "POST", headers, body: JSON.stringify(forged) };
      expect((await fetch(`${at}/webhooks`, options)).status).toBe(401);
      const away = { method: "POST", headers: { "sec-fetch-site": "cross-site" } };
      expect((await fetch(`${at}/posts`, away)).status).toBe(403);
      expect(output).not.toContain("post.failed");
    });
  });

  test(
    "the page of uploads sends a file past its server, and says what became of it",
    async () => {
      const port = await freePort();
      const at = `http://localhost:${port}`;
      const env = { ...environment(), UPLOAD_PORT: String(port) };
      const uploader = spawn(process.execPath, ["examples/upload.mjs"], { env });
      onTestFinished(() => void uploader.kill());
      let output = "";
      uploader.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await until(() => output.includes("Open http"), SETTLE_MS);
      expect(await (await fetch(at)).text()).not.toContain("sk_live");
      const call = async (path: string, body: object, headers = {}) => {
        const options = { method: "POST", body: JSON.stringify(body), headers };
        const answer = await fetch(at + path, options);
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
      const bytes = await readFile("sandbox/media/portrait.jpg");
      const file = { contentType: "image/jpeg", bytes: bytes.length, filename: "portrait.jpg" };
      const unknown = await call("/files", { ...file, contentType: "image/svg+xml" });
      expect(unknown).toMatchObject({
        status: 422,
        body: { message: expect.stringContaining("This file can't be posted") },
      });
      const away = await call("/files", file, { "sec-fetch-site": "cross-site" });
      expect(away.status).toBe(404);
      const { id, upload } = (await call("/files", file)).body as {
        id: string;
        upload: { url: string; headers: Record<string, string> };
      };
      const sent = await fetch(upload.url, { method: "PUT", body: bytes, headers: upload.headers });
      expect(sent.status).toBe(201);
      const text = "From the page of uploads";
      const { body } = await call(`/files/${id}`, { text, key: `upload-${id}` });
      expect(body["lines"]).toHaveLength(5);
      expect(await published(text)).toHaveLength(5);
    },
    EXAMPLE_MS,
  );

  describe("the backend", () => {
    let backend: ChildProcess;
    let output = "";
    let connectUrl = "";
    let wayBack = "";
    const at = () => `http://127.0.0.1:${backendPort}`;
    const post = (url: URL | string, form: Record<string, string> = {}) =>
      fetch(url, { method: "POST", body: new URLSearchParams(form), redirect: "manual" });
    const page = async () => (await fetch(at())).text();

    beforeAll(async () => {
      const env = { ...environment(), BACKEND_PORT: String(backendPort) };
      backend = spawn(process.execPath, ["examples/backend.mjs"], { env });
      for (const stream of [backend.stdout, backend.stderr])
        stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await until(() => output.includes("Open http"), SETTLE_MS);
    });

    afterAll(async () => {
      const ended = once(backend, "exit");
      backend.kill();
      await ended;
    });

    test("asks for an account before it publishes anything", async () => {
      const early = await post(`${at()}/posts`, { text: "Too early" });
      expect([early.status, await early.text()]).toEqual([409, "Link an account first."]);
      expect(await page()).not.toContain("Too early");
    });

    test("leads its customer to the connect page and reads what was linked", async () => {
      connectUrl = (await post(`${at()}/connect`)).headers.get("location") ?? "";
      await linkInBrowser(connectUrl, "bluesky");
      const address = new URL(connectUrl);
      const form = { ...Object.fromEntries(address.searchParams), action: "done" };
      const done = await post(new URL("ui/done", address), form);
      wayBack = done.headers.get("location") ?? "";
      expect(wayBack).toContain(`${at()}/connected?session=cns_`);
      const back = await fetch(wayBack, { redirect: "manual" });
      expect([back.status, back.headers.get("location")]).toEqual([303, "/"]);
      expect(await page()).toContain("<li>bluesky: demo.bsky.social, active");
    });

    test("takes a way back once, and none that it did not send anybody on", async () => {
      expect((await fetch(wayBack, { redirect: "manual" })).status).toBe(400);
      const forged = new URL(wayBack);
      forged.searchParams.set("state", "guessed");
      expect((await fetch(forged, { redirect: "manual" })).status).toBe(400);
    });

    test(
      "publishes, and learns from webhooks that the post was published",
      async () => {
        const text = "From the backend, with <b>";
        expect((await post(`${at()}/posts`, { text })).status).toBe(303);
        const isOut = async () => (await page()).includes("<b>succeeded</b> bluesky https://");
        await until(isOut, EXAMPLE_MS, POLL_MS);
        expect(await published(text)).toEqual(["bluesky"]);
        for (const type of ["connection.linked", "leg.succeeded", "post.succeeded"])
          await until(() => output.includes(`${type}\n`), SETTLE_MS);
      },
      EXAMPLE_MS,
    );

    test("believes no delivery that is not signed", async () => {
      const signatures = [
        "",
        "t=1,v1=00",
        `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`,
      ];
      for (const signature of signatures) {
        const answer = await fetch(`${at()}/webhooks`, {
          method: "POST",
          headers: { "x-social-restapi-signature": signature },
          body: JSON.stringify({ id: "evt_forged", type: "post.failed", data: {} }),
        });
        expect(answer.status).toBe(401);
      }
      expect(output).not.toContain("post.failed");
    });

    test("registers its endpoint once, however often it is started", async () => {
      const again = spawn(process.execPath, ["examples/backend.mjs"], {
        env: { ...environment(), BACKEND_PORT: String(await freePort()), BACKEND_URL: at() },
      });
      let said = "";
      again.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await until(() => said.includes("Open http"), SETTLE_MS);
      const ended = once(again, "exit");
      again.kill();
      await ended;
      const { baseUrl, apiKey } = readDemo(place);
      const answer = await fetch(`${baseUrl}/v1/webhooks`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { data } = (await answer.json()) as { data: { url: string }[] };
      const ours = data.filter(({ url }) => url.startsWith(at()));
      expect(ours.map(({ url }) => url)).toEqual([`${at()}/webhooks`]);
    });
  });
});
