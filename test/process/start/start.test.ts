import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { DEMO_NETWORKS } from "../../../dev/demo.ts";
import { PORT_SETTINGS } from "../../../dev/ports.ts";
import {
  childrenOf,
  hostPidOf,
  kill,
  launch,
  listeningPorts,
  newPlace,
  paste,
  readDemo,
  start,
  until,
} from "./started.ts";
import type { Place, Started } from "./started.ts";

const SETTLE_MS = 60_000;
/** LinkedIn lets nobody see whether a picture is ready, so that it is given time. */
const PUBLISH_MS = 120_000;
const START_TIMEOUT_MS = 180_000;
/** Well within the 300 requests a minute that the demo's key may make. */
const POST_POLL_MS = 1_000;

const Post = z.object({
  id: z.string(),
  status: z.string(),
  text: z.string(),
  legs: z.array(z.object({ platform: z.string(), status: z.string(), url: z.string().nullable() })),
});
const PostAnswer = z.object({ data: Post });
const PostsAnswer = z.object({ data: z.array(Post) });
const Accepted = z.object({ requestId: z.string(), postId: z.string() });
const BalanceAnswer = z.object({
  data: z.object({ tokenBalance: z.number(), tokenReserved: z.number(), available: z.number() }),
});

describe("npm start", () => {
  let place: Place;
  let started: Started;
  let published: z.output<typeof Post>;
  let newestId = "";

  beforeAll(async () => {
    place = await newPlace();
    started = await start(place);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await kill(started, place);
    await place.remove();
  }, START_TIMEOUT_MS);

  const shownCall = () => /^curl [\s\S]*?'$/m.exec(started.output())?.[0] ?? "no call is shown";
  const callOf = (path: string) =>
    `curl -K ${place.folder}/demo.curl '${readDemo(place).baseUrl}/v1/${path}'`;

  test(
    "prints a call that publishes to every network",
    async () => {
      const [read, balance] = [callOf("posts?limit=1"), callOf("billing/balance")];
      const before = BalanceAnswer.parse(await paste(balance)).data;
      const { id } = PostAnswer.parse(await paste(shownCall())).data;
      await until(
        async () => {
          const [newest] = PostsAnswer.parse(await paste(read)).data;
          if (newest !== undefined) published = newest;
          return newest?.id === id && newest.status !== "processing";
        },
        PUBLISH_MS,
        POST_POLL_MS,
      );
      expect(published.status).toBe("succeeded");
      expect(published.legs.map(({ platform, status }) => [platform, status])).toEqual(
        DEMO_NETWORKS.map((name) => [name, "succeeded"]),
      );
      const after = BalanceAnswer.parse(await paste(balance)).data;
      expect(after.tokenBalance).toBe(before.tokenBalance - 10 * DEMO_NETWORKS.length);
      expect(after.tokenReserved).toBe(0);
    },
    PUBLISH_MS + SETTLE_MS,
  );

  test("shows each publish as it happened, with where to look at it", async () => {
    const shown = (name: string) =>
      started
        .output()
        .split("\n")
        .filter((line) => new RegExp(`^[0-9:]{8}  ${name} +\\S+ +published  http`).test(line));
    for (const name of DEMO_NETWORKS) expect(shown(name)).toHaveLength(1);
    const [line = ""] = shown("bluesky");
    const page = await fetch(line.slice(line.indexOf("http")));
    expect(await page.text()).toContain(published.text.slice(0, 20));
    expect(started.output()).not.toContain('"message":');
  });

  test("keeps a log that tells what happened to a request, by script and by hand", async () => {
    const log = readFileSync(join(place.folder, "host.log"), "utf8");
    const accepted = log.split("\n").find((line) => line.includes('"post accepted"')) ?? "{}";
    const { requestId, postId } = Accepted.parse(JSON.parse(accepted));
    expect(postId).toBe(published.id);
    const block = /```sh\n(npx node dev\/what-happened\.ts[\s\S]*?)```/.exec(
      readFileSync("docs/operate/observe.md", "utf8"),
    );
    const lines = (block?.[1] ?? "")
      .replaceAll(".local/", `${place.folder}/`)
      .replaceAll("npx node", process.execPath)
      .trim()
      .split("\n");
    const env = { PATH: process.env["PATH"], LOCAL_FOLDER: place.folder, REQUEST_ID: requestId };
    const told = lines.map((line) => spawnSync("bash", ["-c", line], { env, encoding: "utf8" }));
    expect(told).toHaveLength(2);
    for (const { stdout, status } of told) {
      expect(status).toBe(0);
      for (const step of ["request", "post accepted", "leg claimed", "leg sent", "leg published"])
        expect(stdout).toContain(step);
      for (const name of DEMO_NETWORKS) expect(stdout).toContain(name);
    }
  });

  test("makes the README's own lines work", async () => {
    const { baseUrl } = readDemo(place);
    const blocks = [...readFileSync("README.md", "utf8").matchAll(/```sh\n([\s\S]*?)```/g)];
    const lines = blocks.map(([, text = ""]) => text).find((text) => text.includes("curl ")) ?? "";
    const here = lines
      .replaceAll(".local/demo.json", `${place.folder}/demo.json`)
      .replaceAll("http://localhost:7071/api", baseUrl);
    expect(here).not.toBe(lines);
    const { id, status } = PostAnswer.parse(await paste(here)).data;
    expect(status).toBe("processing");
    newestId = id;
  });

  test("shows what was published on the sandbox's page", async () => {
    const { sandboxUrl } = readDemo(place);
    const page = await (await fetch(`${sandboxUrl}/`)).text();
    expect(page.split(published.text).length - 1).toBeGreaterThanOrEqual(DEMO_NETWORKS.length);
    const { posts } = (await (await fetch(`${sandboxUrl}/_sandbox/posts`)).json()) as {
      posts: { network: string; text: string }[];
    };
    const networks = posts
      .filter(({ text }) => text === published.text)
      .map(({ network }) => network);
    expect(networks.toSorted()).toEqual([...DEMO_NETWORKS].toSorted());
  });

  test("gives a connect page on which nothing is linked yet", async () => {
    const { sandboxUrl, connectUrl } = readDemo(place);
    expect(started.output()).toContain(` ${sandboxUrl}/connect `);
    const answer = await fetch(`${sandboxUrl}/connect`);
    expect([answer.status, answer.url]).toEqual([200, connectUrl]);
    const reference = await fetch(`${sandboxUrl}/reference`, { redirect: "manual" });
    expect(reference.headers.get("location")).toMatch(
      /^http:\/\/localhost:\d+\/api\/docs#demo=sk_live_\w+,prf_\w+,app_\w+,createPost$/,
    );
    const page = await answer.text();
    for (const name of DEMO_NETWORKS) expect(page).toContain(`/v1/connect/ui/${name}`);
    expect(page).not.toMatch(/Connected\b/);
  });

  test("gives an operator's token that is good for a month", async () => {
    const { baseUrl, operatorToken } = readDemo(place);
    const headers = { authorization: `Bearer ${operatorToken}` };
    const answer = await fetch(`${baseUrl}/v1/admin/platforms`, { headers });
    expect(answer.status).toBe(200);
    const claims = z
      .object({ exp: z.number() })
      .parse(JSON.parse(Buffer.from(operatorToken.split(".")[1] ?? "", "base64url").toString()));
    expect(claims.exp * 1000 - Date.now()).toBeGreaterThan(29 * 24 * 3600 * 1000);
  });

  test("shows no secret in full", () => {
    const { apiKey, operatorToken, connectUrl } = readDemo(place);
    for (const secret of [
      apiKey,
      operatorToken,
      new URL(connectUrl).searchParams.get("token") ?? "",
    ])
      expect(started.output()).not.toContain(secret);
  });

  test("refuses a second start on the same data, and shows one with data of its own", async () => {
    const second = launch(place);
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(
      new RegExp(`^LOCAL_FOLDER=${place.folder}2 PORT=\\d+ .*npm start$`, "m"),
    );
    const other = await newPlace();
    onTestFinished(() => other.remove());
    const third = launch({ ...other, folder: place.folder });
    expect(await third.ended).toBe(1);
    expect(third.output()).toContain(`npm start already runs with the data in ${place.folder}`);
    expect(third.output()).toContain(`LOCAL_FOLDER=${place.folder}2`);
  });

  test("prints no escape codes where no terminal shows them", () => {
    expect(started.output()).not.toContain("\u001B");
  });

  test(
    "stops on SIGTERM with code 0 and gives its ports back, and the next start has the same demo and posts",
    async () => {
      const before = readDemo(place);
      started.signal("SIGTERM");
      expect(await started.ended).toBe(0);
      expect(started.output().trimEnd()).toMatch(
        /\nStopping …\n[\s\S]*\nStopped\.$|\nStopping …\nStopped\.$/,
      );
      expect(readFileSync(join(place.folder, "host.log"), "utf8")).toContain('"posts.accepted"');
      expect(await listeningPorts(place)).toEqual([]);

      started = await start(place);
      const after = readDemo(place);
      expect([after.apiKey, after.profileId]).toEqual([before.apiKey, before.profileId]);
      const [newest] = PostsAnswer.parse(await paste(callOf("posts?limit=1"))).data;
      expect(newest?.id).toBe(newestId);
      const page = await (await fetch(`${after.sandboxUrl}/`)).text();
      expect(page).toContain(published.text);
    },
    START_TIMEOUT_MS,
  );

  test(
    "loses nothing that was accepted when it is killed, even a moment after the answer",
    async () => {
      const { baseUrl, apiKey, profileId } = readDemo(place);
      const headers = {
        authorization: `Bearer ${apiKey}`,
        "x-profile-id": profileId,
        "idempotency-key": "accepted-last",
        "content-type": "application/json",
      };
      const scheduleAt = new Date(Date.now() + 3_600_000).toISOString();
      const body = JSON.stringify({ text: "accepted last", platforms: ["mastodon"], scheduleAt });
      const answer = await fetch(`${baseUrl}/v1/posts`, { method: "POST", headers, body });
      const { id } = PostAnswer.parse(await answer.json()).data;
      await kill(started, place);

      started = await start(place);
      const found = await fetch(`${baseUrl}/v1/posts/${id}`, { headers });
      expect(PostAnswer.parse(await found.json()).data.status).toBe("scheduled");
    },
    START_TIMEOUT_MS,
  );

  test("leaves nothing running that only builds", async () => {
    const children = await childrenOf(started);
    const names = children.map(({ command }) => /azurite\.js|host\/main\.ts|$/.exec(command)?.[0]);
    expect(names.toSorted((a = "", b = "") => a.localeCompare(b))).toEqual([
      "azurite.js",
      "host/main.ts",
    ]);
  });

  test(
    "stops everything with code 1 and says why when the host dies",
    async () => {
      process.kill(await hostPidOf(started), "SIGKILL");
      expect(await started.ended).toBe(1);
      expect(started.output()).toContain("the host ended with SIGKILL");
      expect(await listeningPorts(place)).toEqual([]);
    },
    START_TIMEOUT_MS,
  );
});

describe("npm start with ports that are taken", () => {
  test("names every one, starts nothing, and shows a start that can be pasted", async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const { PORT, AZURITE_TABLE_PORT, SANDBOX_PORT } = place.ports;
    for (const port of [PORT, AZURITE_TABLE_PORT]) {
      const server = createServer().listen(port, "127.0.0.1");
      onTestFinished(() => {
        server.close();
      });
      await once(server, "listening");
    }
    const started = launch(place, { ISSUER_PORT: String(SANDBOX_PORT) });
    expect(await started.ended).toBe(1);
    const output = started.output();
    expect(output).toContain(`port ${PORT} for the API is in use`);
    expect(output).toContain(`port ${AZURITE_TABLE_PORT} for Azurite's tables is in use`);
    expect(output).toContain("ISSUER_PORT and SANDBOX_PORT both name port");
    const pasted = /^These ports are free:\n\n(.*) npm start$/m.exec(output)?.[1]?.split(" ") ?? [];
    expect(pasted.map((word) => word.split("=")[0])).toEqual(PORT_SETTINGS);
    const named = pasted.map((word) => Number(word.split("=")[1]));
    expect(new Set(named).size).toBe(PORT_SETTINGS.length);
    expect(named).toContain(SANDBOX_PORT);
    for (const taken of [PORT, AZURITE_TABLE_PORT]) expect(named).not.toContain(taken);
    expect(await readdir(place.folder)).toEqual([]);
  });

  test("refuses what is no port", async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const started = launch(place, { SANDBOX_PORT: "seventy" });
    expect(await started.ended).toBe(1);
    expect(started.output()).toContain(
      'SANDBOX_PORT must be a port from 1 to 65535, not "seventy"',
    );
  });
});
