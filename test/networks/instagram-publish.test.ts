import { describe, expect, test } from "vitest";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { checkingRefusals } from "./legs.ts";
import { type Reply, type Script, NOW, answer, lost, sentForm } from "./scripted-tools.ts";
import {
  GRAPH,
  LOOK,
  ago,
  anImage,
  at,
  container,
  error,
  leg,
  state,
  tools,
} from "./instagram-script.ts";

const PUBLISH = `POST ${GRAPH}/42/media_publish`;
const LIST = `GET ${GRAPH}/42/media`;
const STORIES = `GET ${GRAPH}/42/stories`;

describe("publishing to Instagram", () => {
  const publish = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = anImage,
    draft: Partial<LegDraft> = {},
  ) => instagram.calls.publish.perform(leg(draft, { remote, sentAt: NOW }), tools({ http }));

  test("publishes the container and reads the address", async () => {
    const permalink = "https://www.instagram.com/p/x/";
    const used = tools({
      http: { [PUBLISH]: answer(200, { id: "5" }), [LOOK("5")]: answer(200, { permalink }) },
    });
    expect(
      await instagram.calls.publish.perform(leg({}, { remote: anImage, sentAt: NOW }), used),
    ).toEqual({
      kind: "done",
      externalId: "5",
      url: permalink,
    });
    expect(sentForm(used.calls[0])).toEqual({ creation_id: "1" });
  });

  test.each([lost, answer(500, ""), answer(200, {}), error(190)])(
    "a post is published without a readable address (%#)",
    async (reply) => {
      const http = { [PUBLISH]: answer(200, { id: "5" }), [LOOK("5")]: reply };
      expect(await publish(http)).toEqual({ kind: "done", externalId: "5", url: null });
    },
  );

  describe("a refusal that proves nothing", () => {
    const network = checkingRefusals(networkOf("instagram"));
    const checked = (look: Reply, remote: NetworkData = anImage, refusal = gone) =>
      network.perform(
        leg({}, { remote, sentAt: NOW }),
        tools({ http: { [PUBLISH]: refusal, [LOOK("1")]: look, [LIST]: listed } }),
      );
    const gone = error(24, 2207006);
    const blocked = error(4, 2207051, 403, "Application request limit reached");
    const listed = answer(200, {
      data: [{ id: "5", caption: "Hello", timestamp: NOW.toISOString(), media_type: "IMAGE" }],
    });

    test.each([gone, blocked, error(4), error(987_654)])(
      "finds the post that the call made all the same (%#)",
      async (refusal) => {
        expect(await checked(state("PUBLISHED"), anImage, refusal)).toMatchObject({
          kind: "done",
          externalId: "5",
        });
      },
    );

    test("makes a new container only of one that certainly ended", async () => {
      const outcome = await checked(state("EXPIRED"));
      expect(outcome).toMatchObject({ kind: "prepare_again", remote: { restarts: 1 } });
      expect(outcome).not.toHaveProperty("remote.container");
      const last = { ...anImage, restarts: 2, restartedAt: at(-60) };
      expect(await checked(state("EXPIRED"), last)).toMatchObject({
        kind: "rejected",
        failure: { code: "media_processing_failed" },
      });
    });

    test.each([error(100, 33), error(10)])(
      "is none where the account's list shows the post, though the container can't be read (%#)",
      async (look) => {
        expect(await checked(look)).toMatchObject({ kind: "done", externalId: "5" });
      },
    );

    test.each([lost, state("FINISHED"), state("IN_PROGRESS")])(
      "stays in doubt otherwise (%#)",
      async (look) => {
        expect(await checked(look)).toMatchObject({ kind: "unknown" });
        expect(await checked(look, anImage, blocked)).toMatchObject({ kind: "unknown" });
      },
    );

    test("counts once the container is still not published after a minute", async () => {
      await checked(state("FINISHED"), anImage, blocked);
      const later = leg({}, { remote: anImage, sentAt: ago(60) });
      const http = { [LOOK("1")]: state("FINISHED") };
      expect(await network.find(later, tools({ http }))).toMatchObject({
        kind: "refused",
        failure: { code: "content_rejected", networkCode: "4/2207051" },
      });
    });

    test("a refusal that proves nothing is checked no more than needed: a proof is none", async () => {
      const used = tools({ http: { [PUBLISH]: error(190, 460) } });
      expect(await network.perform(leg({}, { remote: anImage, sentAt: NOW }), used)).toMatchObject({
        kind: "rejected",
      });
      expect(used.asked).toEqual([PUBLISH]);
    });
  });

  test("publishing to Instagram does not call for a container that is published already", async () => {
    const done = { ...anImage, container: container("1", { isPublished: true }) };
    const used = tools({ http: { [LIST]: answer(200, { data: [] }) } });
    expect(
      await instagram.calls.publish.perform(leg({}, { remote: done, sentAt: NOW }), used),
    ).toEqual({
      kind: "done",
      externalId: "1",
      url: null,
    });
    expect(used.asked).toEqual([LIST]);
  });

  test("sees that a container was published when it prepares again", async () => {
    const used = tools({ http: { [LOOK("1")]: state("PUBLISHED") } });
    expect(
      await instagram.calls.publish.prepare(leg({}, { remote: anImage, sentAt: NOW }), used),
    ).toMatchObject({
      kind: "ready",
      remote: { container: { isPublished: true } },
    });
  });
});

describe("an unknown outcome at Instagram", () => {
  const lookUp = (
    http: NonNullable<Script["http"]>,
    seconds = 5,
    remote: NetworkData = anImage,
    draft: Partial<LegDraft> = {},
  ) => instagram.calls.publish.find(leg(draft, { remote, sentAt: ago(seconds) }), tools({ http }));
  const item = (overrides: Record<string, unknown> = {}) => ({
    id: "5",
    caption: "Hello",
    timestamp: NOW.toISOString(),
    permalink: "https://www.instagram.com/p/x/",
    media_type: "IMAGE",
    ...overrides,
  });
  const published = (...items: readonly Record<string, unknown>[]) => ({
    [LOOK("1")]: state("PUBLISHED"),
    [LIST]: answer(200, { data: items }),
  });

  test("an unknown outcome at Instagram is nothing when nothing was sent", async () => {
    const used = tools();
    expect(await instagram.calls.publish.find(leg({}, { remote: anImage }), used)).toEqual({
      kind: "absent",
    });
    expect(used.calls).toEqual([]);
  });

  test("an unknown outcome at Instagram is the account's post with the same words", async () => {
    const others = [
      item({ id: "6", caption: "Other" }),
      item({ id: "7", media_type: "VIDEO" }),
      item({ caption: " Hello\r\n" }),
      item({ id: "4", timestamp: ago(300).toISOString() }),
    ];
    expect(await lookUp(published(...others))).toEqual({
      kind: "done",
      externalId: "5",
      url: "https://www.instagram.com/p/x/",
    });
  });

  test("an unknown outcome at Instagram of several without words is none of them: it goes by its container's id", async () => {
    const both = [item({ id: "6", caption: undefined }), item({ caption: undefined })];
    expect(await lookUp(published(...both), 5, anImage, { text: "" })).toMatchObject({
      externalId: "1",
      url: null,
    });
  });

  test("an unknown outcome at Instagram is a story by its kind and time", async () => {
    const story = { ...anImage, form: "image_story" };
    const http = {
      [LOOK("1")]: state("PUBLISHED"),
      [STORIES]: answer(200, { data: [item({ caption: undefined })] }),
    };
    expect(await lookUp(http, 5, story)).toMatchObject({ externalId: "5" });
  });

  test.each([lost, answer(500, ""), answer(200, { data: [] })])(
    "an outcome is known even when no list shows it (%#)",
    async (reply) => {
      const http = { [LOOK("1")]: state("PUBLISHED"), [LIST]: reply };
      expect(await lookUp(http)).toEqual({ kind: "done", externalId: "1", url: null });
    },
  );

  test("goes by the account's list where the container can't be read, and only by its own words", async () => {
    const unreadable = (look: Reply, ...items: readonly Record<string, unknown>[]) => ({
      [LOOK("1")]: look,
      [LIST]: answer(200, { data: items }),
    });
    const made = item({ timestamp: ago(4).toISOString() });
    for (const look of [error(100, 33), error(10)]) {
      expect(await lookUp(unreadable(look, made))).toMatchObject({ kind: "done", externalId: "5" });
      const older = item({ timestamp: ago(60).toISOString() });
      const others = [older, item({ caption: "Other" })];
      expect(await lookUp(unreadable(look, ...others))).toMatchObject({ kind: "not_yet" });
      const wordless = unreadable(look, item({ caption: undefined }));
      expect(await lookUp(wordless, 5, anImage, { text: "" })).toMatchObject({ kind: "not_yet" });
    }
  });

  test.each<[string, ReturnType<typeof answer>, number, unknown]>([
    ["finished, early", state("FINISHED"), 5, { kind: "repeatable" }],
    ["finished, late", state("FINISHED"), 60, { kind: "absent" }],
    ["failed", state("ERROR"), 5, { kind: "absent" }],
    ["expired", state("EXPIRED"), 5, { kind: "absent" }],
    ["in a state that nobody knows", state("RELEASING"), 600, { kind: "not_yet" }],
    ["in work", state("IN_PROGRESS"), 5, { kind: "not_yet" }],
    ["not told", answer(503, ""), 5, { kind: "not_yet" }],
    ["not told to us", error(190), 5, { kind: "not_yet", failure: { code: "outcome_unknown" } }],
  ])("the outcome of a container that is %s", async (_what, look, seconds, expected) => {
    expect(await lookUp({ [LOOK("1")]: look }, seconds)).toMatchObject(expected as object);
  });
});
