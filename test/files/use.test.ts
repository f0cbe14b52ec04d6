import { beforeAll, describe, expect, test } from "vitest";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, unique } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { announce, aPicture, upload } from "../setup/uploads.ts";

const { relay, visible } = useSandboxedRelay(DEMO_APPS);
let publisher: Publisher;
beforeAll(async () => {
  publisher = await aPublisher(relay, ["bluesky", "mastodon", "instagram", "facebook"]);
});

const DAY_MS = 24 * 3_600_000;
const read = async (id: string) => dataOf(await publisher.call("GET", `/v1/media/${id}`));
const body = (url: string, platforms: readonly string[], more: object = {}) => ({
  text: unique("with a file"),
  platforms,
  mediaUrls: [url],
  ...more,
});

describe("a post with a file", () => {
  test("is published with it on networks that get bytes and on those that fetch them", async () => {
    const file = await upload(publisher, await aPicture());
    const post = await publisher.accept(
      body(file.url, ["bluesky", "mastodon", "instagram", "facebook"]),
    );
    const { keptUntil } = await read(file.id);
    const kept = Date.parse(keptUntil) - Date.parse(post.createdAt);
    expect(kept).toBeGreaterThanOrEqual(8 * DAY_MS);
    expect(kept).toBeLessThanOrEqual(8 * DAY_MS + 3_600_000);
    const ended = await publisher.settle(post.id);
    expect(ended.legs.map(({ status, error }: never) => [status, error])).toEqual(
      ended.legs.map(() => ["succeeded", null]),
    );
    expect(visible(post.text)).toHaveLength(4);
  });

  test("that was deleted after it was accepted is published with it, and no new post can use it", async () => {
    const file = await upload(publisher, await aPicture());
    const post = await publisher.accept(body(file.url, ["mastodon"]));
    expect((await publisher.call("DELETE", `/v1/media/${file.id}`)).status).toBe(204);
    expect((await publisher.settle(post.id)).status).toBe("succeeded");
    const late = await publisher.submit(body(file.url, ["mastodon"]));
    expect(outcomeOf(late)).toBe("422 not_publishable");
    expect(late.body.error.details.platforms.mastodon.errors).toMatchObject([
      {
        code: "media_unreachable",
        rule: "mastodon.file.unusable",
        developerHint: expect.stringContaining("Announce a new file with `POST /v1/media`."),
      },
    ]);
  });

  test("that a network can't accept fails its leg from the start, and validate says so", async () => {
    const file = await upload(publisher, await aPicture(2_000, 100));
    const draft = body(file.url, ["mastodon", "instagram"]);
    const validated = dataOf(await publisher.call("POST", "/v1/posts/validate", { body: draft }));
    expect(validated.platforms.instagram.errors).toMatchObject([
      { rule: "instagram.media.ratio", mediaIndex: 0 },
    ]);
    expect(validated.media).toEqual([]);
    const post = await publisher.accept(draft);
    expect(post.legs[1]).toMatchObject({ status: "failed", attempts: 0 });
    expect(post.tokens.reserved).toBe(10);
    expect((await publisher.settle(post.id)).status).toBe("partial");
  });

  test("that is deleted at the same time is either refused, or published with the file", async () => {
    const second = await startRelay({ sameDeploymentAs: relay });
    const outcomes: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const file = await upload(publisher, await aPicture());
      const other = publisher.at(second);
      const [deleted, accepted] = await Promise.all([
        other.call("DELETE", `/v1/media/${file.id}`),
        publisher.submit(body(file.url, ["mastodon"])),
      ]);
      expect(deleted.status).toBe(204);
      outcomes.push(outcomeOf(accepted));
      if (accepted.status === 202)
        expect((await publisher.settle(accepted.body.data.id)).status).toBe("succeeded");
    }
    await second.stop();
    expect(outcomes.filter((one) => one !== "202" && one !== "422 not_publishable")).toEqual([]);
  });

  test("whose time is over when it is retried ends, and retrying again makes no sense", async () => {
    const file = await upload(publisher, await aPicture());
    const post = await publisher.accept(body(file.url, ["mastodon", "instagram"]));
    relay.advance(9 * DAY_MS);
    const ended = await publisher.settle(post.id);
    expect(ended.legs[0]).toMatchObject({
      status: "failed",
      error: { code: "media_unreachable", rule: "mastodon.file.unusable" },
      retryAvailable: false,
    });
  });

  test("waits for nobody: a file that is not complete, or is another profile's, is refused", async () => {
    const waiting = dataOf(await announce(publisher, 10));
    const answer = await publisher.submit(body(waiting.url, ["mastodon"]));
    expect(answer.body.error.details.platforms.mastodon.errors).toMatchObject([
      {
        code: "media_not_ready",
        rule: "mastodon.file.waiting",
        developerHint: "After the PUT, call `POST /v1/media/{mediaId}/complete`.",
      },
    ]);
    const other = await aPublisher(relay, ["mastodon"]);
    const foreign = await upload(other, await aPicture());
    const refused = await publisher.submit(body(foreign.url, ["mastodon"]));
    expect(refused.body.error.details.platforms.mastodon.errors[0].rule).toBe(
      "mastodon.file.unusable",
    );
  });

  test("is kept until the post is due, and a PATCH moves that", async () => {
    const file = await upload(publisher, await aPicture());
    const at = (days: number) =>
      new Date(relay.clock.now().getTime() + days * DAY_MS).toISOString();
    const post = await publisher.accept(body(file.url, ["mastodon"], { scheduleAt: at(30) }));
    const until = async () => Date.parse((await read(file.id)).keptUntil);
    expect(await until()).toBeGreaterThanOrEqual(Date.parse(at(38)) - 60_000);
    dataOf(await publisher.change(post.id, { scheduleAt: at(40) }));
    expect(await until()).toBeGreaterThanOrEqual(Date.parse(at(48)) - 60_000);
    dataOf(await publisher.change(post.id, { scheduleAt: at(10) }));
    expect(await until()).toBeGreaterThanOrEqual(Date.parse(at(48)) - 60_000);
    dataOf(await publisher.cancel(post.id));
  });
});

test.each([
  ["/v1/media/med_1/content", "refused_url"],
  ["/v1/media/public/v1.k1.AAAA", "refused_url"],
  ["/v1/media/med_01KJW4MGDRFR11Y8SW6DK6R7NP", "refused_url"],
])("an address of ours that is none of a file is refused: %s", async (path, code) => {
  const url = relay.services.config.publicBaseUrl + path;
  const answer = await publisher.submit(body(url, ["mastodon"]));
  expect(outcomeOf(answer)).toBe("400 validation_failed");
  const [issue] = answer.body.error.details.issues;
  expect(issue.path).toBe("mediaUrls.0");
  expect(issue.code).toBe(code);
});
