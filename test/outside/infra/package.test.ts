import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  aCustomer,
  endedPost,
  legOf,
  linkMastodon,
  publish,
} from "../../process/relay/customer.ts";
import type { Customer } from "../../process/relay/customer.ts";
import { startRelayProcess, type RelayProcess } from "../../process/relay/relay-process.ts";
import { startWorld, type World } from "../../process/relay/world.ts";
import type { Publisher } from "../../setup/publisher.ts";
import { aFilm, aPicture, upload } from "../../setup/uploads.ts";
import { filesSent, filesSentByGit, readPatterns, stagePackage } from "./staged-package.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(resolve(ROOT, path), "utf8");

const INSTANCE = "mastodon.sandbox.test";
const PHOTO = resolve(import.meta.dirname, "../../media/heics/photo.heic");
/** Other systems have packages with native code of their own, and those of the app only once it was packaged there. */
const HAS_PACKAGES = existsSync(resolve(ROOT, "node_modules/@img/sharp-linux-x64"));
const RUNS_HERE = HAS_PACKAGES && process.platform === "linux" && process.arch === "x64";

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const { packages } = JSON.parse(read("package-lock.json")) as {
  packages: Readonly<Record<string, Locked>>;
};

/** Where a package finds another: in its own folder first, then at the top. */
function placeOf(name: string, from: string): string | undefined {
  const places = [`${from}/node_modules/${name}`, `node_modules/${name}`];
  return places.find((place) => place in packages);
}

/** Folders that a Linux machine in Azure loads of these packages: themselves and all below them. */
function closureOf(names: readonly string[], from = "", found = new Set<string>()): Set<string> {
  for (const name of names) {
    const place = placeOf(name, from);
    const locked = place === undefined ? undefined : packages[place];
    const fits = (wanted: readonly string[] | undefined, own: string) =>
      wanted?.includes(own) ?? true;
    if (place === undefined || locked === undefined || found.has(place)) continue;
    if (!fits(locked.os, "linux") || !fits(locked.cpu, "x64") || !fits(locked.libc, "glibc"))
      continue;
    found.add(place);
    const { dependencies, optionalDependencies } = locked;
    closureOf(Object.keys({ ...dependencies, ...optionalDependencies }), place, found);
  }
  return found;
}

describe.runIf(HAS_PACKAGES)("what is deployed", () => {
  let sent: readonly string[];
  beforeAll(async () => {
    expect(inject("bundleError")).toBe("");
    sent = await filesSent();
  });

  test("what is deployed is the app and nothing else at the top", () => {
    const top = new Set(sent.map((path) => path.split("/", 1).join()));
    expect([...top].toSorted()).toEqual(["dist", "host.json", "node_modules", "package.json"]);
  });

  test("what is deployed has what the bundle loads beside itself, and no other package", () => {
    const installed = /INSTALLED = \[([^\]]*)\]/.exec(read("tools/build.ts"))?.[1] ?? "";
    const names = [...installed.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(names).toContain("sharp");
    // Types are read by nobody at run time.
    const needed = [...closureOf(names)].filter((place) => !place.includes("/@types/"));
    expect(needed).toContain("node_modules/@img/sharp-linux-x64");
    const places = sent.flatMap(
      (path) => /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+(?=package\.json$)/.exec(path)?.[0] ?? [],
    );
    expect(places.map((place) => place.slice(0, -1)).toSorted()).toEqual(needed.toSorted());
  });

  test("keeps the licenses of what comes from others", () => {
    for (const path of [
      "node_modules/sharp/LICENSE",
      "node_modules/@img/sharp-linux-x64/LICENSE",
      // libvips and what is linked into it: the list of their licenses.
      "node_modules/@img/sharp-libvips-linux-x64/README.md",
      "node_modules/mediabunny/LICENSE",
      // Under the LGPL, and so a file of its own that can be replaced.
      "node_modules/libheif-js/LICENSE",
      "node_modules/libheif-js/libheif-wasm/LICENSE",
      "node_modules/libheif-js/libheif-wasm/libheif.wasm",
    ])
      expect(sent).toContain(path);
  });

  test("what is deployed is the same by the rules of azd and by those of Git", async () => {
    expect(await filesSentByGit()).toEqual(sent);
  });

  test("what is deployed is named by patterns that mean one place", async () => {
    for (const pattern of await readPatterns()) {
      expect(pattern).toMatch(/^!?\//);
      const name = pattern.replace(/^!?\//, "").replace(/\/$/, "");
      expect(name.includes("*") && !name.includes("/")).toBe(false);
    }
  });
});

describe.runIf(RUNS_HERE)("the app that is deployed, from its folder alone,", () => {
  let world: World;
  let relay: RelayProcess;
  let customer: Customer;

  beforeAll(async () => {
    world = await startWorld();
    relay = await startRelayProcess({ folder: await stagePackage(), settings: world.settings });
    customer = await aCustomer(relay, world);
    await linkMastodon(relay, customer, INSTANCE);
  });
  afterAll(async () => {
    await Promise.all([relay?.stop(), world?.stop()]);
  });

  test.each([
    ["a video", "https://media.sandbox.test/clip.mp4"],
    ["a WebP", "https://media.sandbox.test/photo.webp"],
  ])("publishes %s", async (what, url) => {
    const body = { platforms: ["mastodon"], text: `With ${what}`, mediaUrls: [url] };
    const accepted = await publish(relay, customer, body);
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(202);
    const post = await endedPost(relay, customer, String(accepted.body.data.id));
    expect(legOf(post, "mastodon")).toMatchObject({ status: "succeeded", error: null });
  });

  test.each([
    { what: "a JPEG", contentType: "image/jpeg", made: () => aPicture() },
    { what: "a HEIC picture", contentType: "image/heic", made: () => readFile(PHOTO) },
    { what: "a film", contentType: "video/mp4", made: () => Promise.resolve(aFilm(200_000)) },
  ])("takes $what that is uploaded, and publishes it", async ({ contentType, made }) => {
    const { key: bearer, profileId } = customer;
    const headers = { "x-profile-id": profileId };
    const own: Pick<Publisher, "call"> = {
      call: (method, path, { body } = {}) => relay.call(method, path, { bearer, headers, body }),
    };
    const file = await upload(own, await made(), { contentType });
    expect(file).toMatchObject({ status: "ready", fits: { mastodon: { ok: true } } });
    const isPicture = contentType.startsWith("image/");
    const preview = isPicture ? await fetch(file.previewUrl) : undefined;
    expect(preview?.headers.get("content-type")).toBe(isPicture ? "image/jpeg" : undefined);
    const draft = {
      platforms: ["mastodon"],
      text: `Uploaded: ${file.id}`,
      mediaUrls: [file.url],
    };
    const validated = await own.call("POST", "/v1/posts/validate", { body: draft });
    expect(validated.body.data.platforms.mastodon).toMatchObject({ errors: [] });
    const accepted = await publish(relay, customer, draft);
    const post = await endedPost(relay, customer, String(accepted.body.data.id));
    expect(legOf(post, "mastodon")).toMatchObject({ status: "succeeded", error: null });
    const shown = world.sandbox.posts("mastodon").find(({ text }) => text === draft.text);
    expect(shown?.media[0]?.mimeType).toBe(isPicture ? "image/jpeg" : contentType);
  });
});
