import { expect, test } from "vitest";
import { dyingAt } from "../setup/dying-relay.ts";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, unique, uniqueKey } from "../setup/publisher.ts";
import { type Answer, type Relay, startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { fileRemains, fileViolations } from "../setup/stored-files.ts";
import { announce, aPicture, send, upload } from "../setup/uploads.ts";

const { relay, visible } = useSandboxedRelay();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** More than any of these requests and steps writes. */
const WRITES_MAX = 40;

/** The first attempt to publish a text that begins so is refused. */
const REFUSED = "[fail:text_invalid:1]";

/** What a request is about: one of these by its test. */
interface Prepared {
  readonly id?: string;
  readonly urls?: readonly string[];
  readonly postId?: string;
  readonly text?: string;
  readonly idempotencyKey?: string;
}

interface Operation {
  readonly prepare: (own: Publisher) => Promise<Prepared>;
  /** The request, at a process that may die. */
  readonly act: (own: Publisher, prepared: Prepared) => Promise<Answer>;
  /** The answers that a repeat may get. */
  readonly answers: readonly string[];
}

async function aSentFile(own: Publisher, bytes?: Uint8Array): Promise<Prepared> {
  const sent = bytes ?? (await aPicture(8, 8));
  const file = dataOf(await announce(own, sent.length));
  await send(file, sent);
  return { id: file.id };
}

/** A text that isn't the beginning of another one. */
const aText = (what: string) => `${unique(what)}.`;

const aPost = (urls: readonly string[], text = aText("with files"), more: object = {}) => ({
  text,
  platforms: ["mastodon"],
  mediaUrls: urls,
  ...more,
});

const small = (own: Publisher) => aPicture(8, 8).then((bytes) => upload(own, bytes));
const complete = (own: Publisher, { id }: Prepared) => own.call("POST", `/v1/media/${id}/complete`);
const remove = (own: Publisher, { id }: Prepared) => own.call("DELETE", `/v1/media/${id}`);

const REQUESTS: Readonly<Record<string, Operation>> = {
  "announces a file": {
    prepare: () => Promise.resolve({}),
    act: (own) => announce(own, 10),
    answers: ["201"],
  },
  "completes an upload": { prepare: aSentFile, act: complete, answers: ["200"] },
  "completes an upload that it rejects": {
    prepare: (own) => aSentFile(own, Buffer.from("no picture")),
    act: complete,
    answers: ["422 media_rejected"],
  },
  "deletes a file that waits": { prepare: aSentFile, act: remove, answers: ["204"] },
  "deletes a file that no post uses": {
    prepare: async (own) => ({ id: (await small(own)).id }),
    act: remove,
    answers: ["204"],
  },
  "deletes a file that a post uses": {
    async prepare(own) {
      const { id, url } = await small(own);
      const scheduleAt = new Date(relay.clock.now().getTime() + HOUR_MS).toISOString();
      const { text } = await own.accept(aPost([url], undefined, { scheduleAt }));
      return { id, text };
    },
    act: remove,
    answers: ["204"],
  },
  "accepts a post with two files": {
    async prepare(own) {
      const urls = [(await small(own)).url, (await small(own)).url];
      return { urls, text: aText("with two files"), idempotencyKey: uniqueKey() };
    },
    act: (own, { urls = [], text, idempotencyKey }) =>
      own.submit(aPost(urls, text), idempotencyKey),
    answers: ["202"],
  },
  "gives a scheduled post a file": {
    async prepare(own) {
      const text = aText("changed");
      const scheduleAt = new Date(relay.clock.now().getTime() + 10 * DAY_MS).toISOString();
      const { id: postId } = await own.accept(aPost([], text, { scheduleAt }));
      return { postId, text, urls: [(await small(own)).url] };
    },
    act: (own, { postId = "", urls }) => own.change(postId, { mediaUrls: urls }),
    answers: ["200"],
  },
  "retries a post with a file": {
    async prepare(own) {
      const text = aText(REFUSED);
      const { id: postId } = await own.accept(aPost([(await small(own)).url], text));
      await own.settle(postId);
      relay.advance(6 * DAY_MS);
      return { postId, text };
    },
    act: (own, { postId }) => own.call("POST", `/v1/posts/${postId}/retry`),
    answers: ["202", "409 nothing_to_retry"],
  },
};

/** Lets what is due be published. What is no longer scheduled has ended with its files, or was not tried again. */
async function publishDue(owners: readonly Publisher[]): Promise<void> {
  relay.advance(5 * 60_000);
  await relay.runTimer("fire-due-posts");
  await relay.runTimer("sweep-stalled-work");
  await relay.drain();
  for (const own of owners) {
    const posts: Answer["body"][] = dataOf(await own.call("GET", "/v1/posts"));
    for (const { id, status, text } of posts) {
      if (status === "scheduled") continue;
      const { legs, mediaUrls } = await own.settle(id);
      const [{ error, attempts }] = legs;
      if (attempts === 1 && text.startsWith(REFUSED)) expect(error.code).toBe("text_invalid");
      else expect(error).toBe(null);
      const shown = error === null ? [mediaUrls.length] : [];
      expect(visible(text).map(({ media }) => media.length)).toEqual(shown);
    }
  }
}

/** Lets time pass until no file is kept any more. */
async function outlastFiles(owners: readonly Publisher[]): Promise<void> {
  for (const days of [0.25, 7, 3, 10, 10]) {
    relay.advance(days * DAY_MS);
    await publishDue(owners);
    await relay.runTimer("expire-files");
    for (const { owner } of owners)
      expect(await fileViolations(relay, owner.platformId), `after ${days} days`).toEqual([]);
  }
  for (const { owner } of owners) expect(await fileRemains(relay, owner.platformId)).toEqual([]);
}

/**
 * Where a process dies, and whether its request is repeated. A death after a write leaves what a death before the next one
 * does, so each of these states is met both ways.
 */
const DEATHS = [
  { moment: "before", isRepeated: true },
  { moment: "after", isRepeated: false },
] as const;

test.each(Object.entries(REQUESTS))(
  "a process that %s may die at any of its writes, and the request be repeated or not",
  { timeout: 120_000 },
  async (_, { prepare, act, answers }) => {
    const owners: Publisher[] = [];
    for (const { moment, isRepeated } of DEATHS) {
      let end = "died";
      let nth = 0;
      while (end === "died" && nth < WRITES_MAX) {
        nth += 1;
        const own = await aPublisher(relay, ["mastodon"]);
        owners.push(own);
        const about = `death ${nth} ${moment}, ${isRepeated ? "repeated" : "left"}`;
        const expectOrder = async () =>
          expect(await fileViolations(relay, own.owner.platformId), about).toEqual([]);
        const prepared = await prepare(own);
        await expectOrder();
        end = await dyingAt(relay, { nth, moment }, (process) => act(own.at(process), prepared));
        await expectOrder();
        if (isRepeated) {
          expect(answers, about).toContain(outcomeOf(await act(own, prepared)));
          await expectOrder();
        }
        await publishDue([own]);
        await expectOrder();
      }
      expect(end).toBe("lived");
      expect(nth).toBeGreaterThan(1);
    }
    await outlastFiles(owners);
  },
);

const STEPS: Readonly<Record<string, (own: Publisher, alone: Relay) => Promise<unknown>>> = {
  async "removes a file whose upload did not come in time"(own, alone) {
    await aSentFile(own);
    alone.advance(5 * HOUR_MS);
  },
  async "looks at a file that is kept"(own, alone) {
    await small(own);
    alone.advance(5 * HOUR_MS);
  },
  async "removes a file that is over"(own, alone) {
    await small(own);
    alone.advance(8 * DAY_MS);
  },
  async "removes a deleted file that is over"(own, alone) {
    await remove(own, await small(own));
    alone.advance(8 * DAY_MS);
  },
  async "removes a rejected file that is over"(own, alone) {
    await complete(own, await aSentFile(own, Buffer.from("no picture")));
    alone.advance(8 * DAY_MS);
  },
};

test.each(Object.entries(STEPS))(
  "a walk that %s may die at any of its writes",
  { timeout: 60_000 },
  async (_, prepare) => {
    let end = "died";
    let nth = 0;
    while (end === "died" && nth < WRITES_MAX) {
      nth += 1;
      const alone = await startRelay();
      const own = await aPublisher(alone, []);
      const { platformId } = own.owner;
      await prepare(own, alone);
      const walk = (process: Relay) => process.runTimer("expire-files");
      end = await dyingAt(alone, { nth, moment: "after" }, walk);
      expect(await fileViolations(alone, platformId), `death ${nth}`).toEqual([]);
      await walk(alone);
      expect(await fileViolations(alone, platformId), `death ${nth}`).toEqual([]);
      alone.advance(8 * DAY_MS);
      await walk(alone);
      expect(await fileRemains(alone, platformId), `death ${nth}`).toEqual([]);
      await alone.stop();
    }
    expect(end).toBe("lived");
    expect(nth).toBeGreaterThan(2);
  },
);
