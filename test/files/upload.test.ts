import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher } from "../setup/publisher.ts";
import { animatedGif } from "../media/pictures.ts";
import { announce, aPicture, send, tryUpload, upload } from "../setup/uploads.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();
let publisher: Publisher;
beforeAll(async () => {
  publisher = await aPublisher(relay, []);
});

const written = (name: string) => readFileSync(`test/media/written/${name}`);
const read = async (id: string) => await publisher.call("GET", `/v1/media/${id}`);

describe("a file", () => {
  test("is announced, sent to storage, completed, read and deleted", async () => {
    const bytes = await aPicture();
    const announced = dataOf(await announce(publisher, bytes.length, { filename: "a b.jpg" }));
    expect(announced).toMatchObject({
      profileId: publisher.profileId,
      filename: "a b.jpg",
      status: "waiting",
      contentType: "image/jpeg",
      bytes: bytes.length,
      width: null,
      fits: null,
      problem: null,
      upload: { method: "PUT" },
      completedAt: null,
    });
    const { id } = announced;
    expect(outcomeOf(await publisher.call("POST", `/v1/media/${id}/complete`))).toBe(
      "409 invalid_state",
    );
    expect(outcomeOf(await publisher.call("GET", `/v1/media/${id}/content`))).toBe(
      "409 invalid_state",
    );
    expect((await send(announced, bytes)).status).toBe(201);
    const completed = dataOf(await publisher.call("POST", `/v1/media/${id}/complete`));
    expect(completed).toMatchObject({ status: "ready", width: 640, height: 640, animated: false });
    expect(completed.fits.bluesky).toEqual({ ok: true, problems: [] });
    expect(completed.upload).toBeNull();
    const again = dataOf(await publisher.call("POST", `/v1/media/${id}/complete`));
    expect({ ...again, previewUrl: "" }).toEqual({ ...completed, previewUrl: "" });
    expect({ ...dataOf(await read(id)), previewUrl: "" }).toEqual({ ...completed, previewUrl: "" });

    const content = await publisher.call("GET", `/v1/media/${id}/content`);
    expect(content.status).toBe(302);
    const fetched = await fetch(content.headers.get("location") ?? "");
    expect(Buffer.from(await fetched.arrayBuffer()).equals(bytes)).toBe(true);
    expect(fetched.headers.get("content-disposition")).toContain('filename="a b.jpg"');

    const preview = new URL(completed.previewUrl).pathname.slice("/api".length);
    const shown = await relay.call("GET", preview);
    expect(shown.status).toBe(200);
    expect(shown.headers.get("content-type")).toBe("image/jpeg");
    expect((await relay.call("GET", preview.replace("/public", ""))).status).toBe(401);

    expect((await publisher.call("DELETE", `/v1/media/${id}`)).status).toBe(204);
    expect((await publisher.call("DELETE", `/v1/media/${id}`)).status).toBe(204);
    expect((await fetch(content.headers.get("location") ?? "")).status).toBe(404);
    for (const path of [`/v1/media/${id}`, `/v1/media/${id}/content`])
      expect(outcomeOf(await publisher.call("GET", path))).toBe("404 not_found");
    expect(outcomeOf(await publisher.call("POST", `/v1/media/${id}/complete`))).toBe(
      "404 not_found",
    );
    expect(outcomeOf(await relay.call("GET", preview))).toBe("404 not_found");
    relay.advance(7 * 24 * 3_600_000);
    expect(outcomeOf(await publisher.call("DELETE", `/v1/media/${id}`))).toBe("404 not_found");
  });

  test("that breaks the rules of networks is ready, and says which", async () => {
    const wide = await aPicture(2_000, 100);
    const { fits } = await upload(publisher, wide);
    expect(fits.mastodon.ok).toBe(true);
    expect(fits.instagram.ok).toBe(false);
    const sound = await upload(publisher, written("ffmpeg.mp3"), { contentType: "audio/mpeg" });
    expect(sound.previewUrl).toBeNull();
    expect(sound.fits.mastodon.ok).toBe(true);
    expect(sound.fits.bluesky).toMatchObject({
      ok: false,
      problems: [{ code: "media_rejected", rule: "bluesky.media.type" }],
    });
    const film = await upload(publisher, written("ffmpeg.mp4"), { contentType: "video/mp4" });
    expect(film.durationSeconds).toBeGreaterThan(0);
    expect(film.fits.mastodon).toEqual({ ok: true, problems: [] });
    expect(film.fits.linkedin.problems).toMatchObject([{ rule: "linkedin.media.duration" }]);
  });

  test("that moves is checked as what a network makes of it", async () => {
    const gif = await animatedGif();
    const { url, animated } = await upload(publisher, gif, { contentType: "image/gif" });
    expect(animated).toBe(true);
    const draft = {
      text: "",
      platforms: ["bluesky"],
      mediaUrls: [url],
      altTexts: ["x".repeat(1_001)],
    };
    const { platforms } = dataOf(
      await publisher.call("POST", "/v1/posts/validate", { body: draft }),
    );
    expect(platforms.bluesky.warnings).toMatchObject([{ rule: "bluesky.altText.videoShortened" }]);
  });
});

describe("bytes that are refused", () => {
  test.each([
    ["of another length", "length", () => aPicture(), { length: 10 }],
    ["of another type", "type", () => Promise.resolve(written("ffmpeg.mp3")), {}],
    ["of a web page", "type", () => Promise.resolve(Buffer.from("<!doctype html><p>")), {}],
    ["that end in the middle", "damaged", async () => (await aPicture()).subarray(0, 300), {}],
  ])("%s reject the file as %s", async (_what, reason, make, announced) => {
    const bytes = await make();
    const answer = await tryUpload(publisher, bytes, announced);
    expect(outcomeOf(answer)).toBe("422 media_rejected");
    expect(answer.body.error.details).toMatchObject({
      reason,
      problems: [{ code: "media_rejected", rule: `upload.${reason}` }],
    });
    const {
      data: [file],
    } = (await publisher.call("GET", "/v1/media?status=rejected&limit=1")).body;
    expect(file).toMatchObject({ status: "rejected", fits: null, problem: { reason } });
    const again = await publisher.call("POST", `/v1/media/${file.id}/complete`);
    expect(again.body.error.details.reason).toBe(reason);
    expect(outcomeOf(await publisher.call("GET", `/v1/media/${file.id}/content`))).toBe(
      "409 invalid_state",
    );
    const { platformId } = publisher.owner;
    const { blobs, blobFolder } = relay.services.publishing.files.stores;
    expect(await blobs.find(`${blobFolder(platformId)}${file.id}`)).toBeUndefined();
  });
});

test.each([
  [{ contentType: "text/html", bytes: 1 }, "contentType"],
  [{ contentType: "image/svg+xml", bytes: 1 }, "contentType"],
  [{ contentType: "image/png", bytes: 0 }, "bytes"],
  [{ contentType: "image/png", bytes: 1_073_741_825 }, "bytes"],
  [{ contentType: "image/png", bytes: 1, filename: "../a" }, "filename"],
  [{ contentType: "image/png", bytes: 1, filename: "a\u0007" }, "filename"],
  [{ contentType: "image/png", bytes: 1, filename: "a".repeat(256) }, "filename"],
])("%j is refused", async (body, path) => {
  const answer = await publisher.call("POST", "/v1/media", { body });
  expect(outcomeOf(answer)).toBe("400 validation_failed");
  expect(answer.body.error.details.issues.map((issue: { path: string }) => issue.path)).toEqual([
    path,
  ]);
});

test("completions at the same time answer the same", async () => {
  const bytes = await aPicture();
  const file = dataOf(await announce(publisher, bytes.length));
  await send(file, bytes);
  const path = `/v1/media/${file.id}/complete`;
  const answers = await Promise.all(Array.from({ length: 6 }, () => publisher.call("POST", path)));
  expect(new Set(answers.map(({ body }) => body.data.completedAt)).size).toBe(1);
});
