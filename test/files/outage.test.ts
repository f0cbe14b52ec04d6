import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { serviceUnavailable } from "../../src/shared/runtime/errors.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { fileViolations, storedFiles } from "../setup/stored-files.ts";
import { aFilm, announce, aPicture, send, upload } from "../setup/uploads.ts";
import { runAround } from "../setup/replace-in.ts";
import type { Blobs } from "../../src/shared/runtime/storage/blobs.ts";

const { relay, sandbox } = useSandboxedRelay(DEMO_APPS);
const DAY_MS = 24 * 3_600_000;
type Call = keyof Blobs;
/** Says which calls to storage of blobs get no answer now. */
let fails: (call: Call, index: number) => boolean;
let calls = 0;
let isFaulted = false;

beforeEach(() => {
  fails = () => false;
  calls = 0;
  if (isFaulted) return;
  isFaulted = true;
  runAround(relay.services.publishing.files.stores.blobs, async (name, run) => {
    calls += 1;
    // Safe: the methods of the store.
    if (fails(name as Call, calls)) throw serviceUnavailable(new Error("no answer"));
    return await run();
  });
});

test("while storage doesn't answer, routes that need it say so, and others work", async () => {
  const own = await aPublisher(relay, []);
  const { platformId } = own.owner;
  const picture = await aPicture(8, 8);
  const ready = await upload(own, picture);
  const sent = dataOf(await announce(own, picture.length));
  await send(sent, picture);
  fails = () => true;
  const complete = () => own.call("POST", `/v1/media/${sent.id}/complete`);
  expect(outcomeOf(await complete())).toBe("503 service_unavailable");
  expect(outcomeOf(await announce(own, 10))).toBe("503 service_unavailable");
  const content = () => own.call("GET", `/v1/media/${ready.id}/content`);
  expect(outcomeOf(await content())).toBe("503 service_unavailable");
  const preview = new URL(ready.previewUrl).pathname.slice("/api".length);
  expect(outcomeOf(await relay.call("GET", preview))).toBe("503 service_unavailable");
  expect(outcomeOf(await own.call("GET", "/v1/media"))).toBe("200");
  expect(outcomeOf(await own.call("GET", `/v1/media/${sent.id}`))).toBe("200");
  expect((await storedFiles(relay, platformId)).files).toHaveLength(2);
  fails = () => false;
  expect((await content()).status).toBe(302);
  expect(outcomeOf(await complete())).toBe("200");
  // The bytes go later.
  fails = () => true;
  expect(outcomeOf(await own.call("DELETE", `/v1/media/${sent.id}`))).toBe("204");
  fails = () => false;
  expect(await fileViolations(relay, platformId)).toEqual([]);
});

/** Publishes a post with a file, while storage fails until that has been tried twice. */
async function publishThroughOutage(
  own: Publisher,
  url: string,
  network: NetworkName,
  { faults, options = {} }: { readonly faults: typeof fails; readonly options?: object },
) {
  const before = await own.balance();
  const shownBefore = sandbox.posts(network).length;
  const text = `${unique("Outage")}.`;
  const post = { text, platforms: [network], mediaUrls: [url], ...options };
  const { id } = await own.accept(post);
  calls = 0;
  fails = faults;
  await relay.drain();
  relay.advance(180_000);
  await relay.drain();
  const late = await own.read(id);
  fails = () => false;
  const ended = await own.settle(id);
  const after = await own.balance();
  const shown = sandbox.posts(network).length - shownBefore;
  return { late, ended, shown, spent: before.tokenBalance - after.tokenBalance };
}

describe("a leg whose file can't be read now", () => {
  test.each([["bluesky"], ["mastodon"], ["linkedin"], ["facebook"], ["instagram"]] as const)(
    "on %s is tried again, and publishes once when storage is back",
    async (network) => {
      const own = await aPublisher(relay, [network]);
      const { url } = await upload(own, await aPicture());
      const outcome = await publishThroughOutage(own, url, network, { faults: () => true });
      const { late, ended, shown, spent } = outcome;
      expect(late.legs[0]).toMatchObject({ status: "pending" });
      expect(ended.legs[0]).toMatchObject({ status: "succeeded", error: null });
      expect(shown).toBe(1);
      expect(ended.tokens).toEqual({ charged: 10, reserved: 0, released: 0 });
      expect(spent).toBe(10);
    },
  );

  test.each([
    ["facebook", undefined],
    ["facebook", "reel"],
    ["facebook", "story"],
    ["instagram", "reel"],
  ] as const)(
    "on %s (%s) is tried again when no address can be signed for a film",
    async (network, kind) => {
      const own = await aPublisher(relay, [network]);
      const { url } = await upload(own, aFilm(200_000), { contentType: "video/mp4" });
      const options = { platformOptions: { [network]: { kind } } };
      const faults = (call: Call) => call === "readAddress";
      const outcome = await publishThroughOutage(own, url, network, { faults, options });
      const { late, ended, shown, spent } = outcome;
      expect(late.legs[0]).toMatchObject({ status: "pending" });
      expect(ended.legs[0]).toMatchObject({ status: "succeeded", error: null });
      expect(shown).toBe(1);
      expect(spent).toBe(10);
    },
  );

  test("ends when the time of its file is over before its network has it", async () => {
    const own = await aPublisher(relay, ["facebook"]);
    const { url } = await upload(own, aFilm(200_000), { contentType: "video/mp4" });
    const options = { platformOptions: { facebook: { kind: "reel" } } };
    const { id } = await own.accept({
      text: "",
      platforms: ["facebook"],
      mediaUrls: [url],
      ...options,
    });
    fails = (call) => call === "readAddress";
    await relay.drain();
    relay.advance(9 * DAY_MS);
    const { legs } = await own.settle(id);
    expect(legs[0]).toMatchObject({
      status: "failed",
      error: { code: "media_unreachable", rule: "facebook.file.unusable" },
      retryAvailable: false,
    });
  });

  const film = () => aFilm(4_700_000);
  const document = () => readFileSync("test/media/written/inkscape.pdf");
  test.each([
    ["mastodon", "video/mp4", film],
    ["bluesky", "video/mp4", film],
    ["linkedin", "video/mp4", film],
    ["linkedin", "application/pdf", document],
  ] as const)(
    "on %s is tried again when a read breaks off in the middle of the upload: %s",
    async (network, contentType, make) => {
      const own = await aPublisher(relay, [network]);
      const bytes = make();
      const { url } = await upload(own, bytes, { contentType });
      // Every second piece of a film is lost.
      const faults: typeof fails = (call, index) =>
        call === "read" && (make === document || index % 2 === 0);
      const { late, ended, shown, spent } = await publishThroughOutage(own, url, network, {
        faults,
      });
      expect(late.legs[0]).toMatchObject({ status: "pending" });
      expect(ended.legs[0]).toMatchObject({ status: "succeeded", error: null });
      expect(shown).toBe(1);
      expect(spent).toBe(10);
    },
  );
});
