import { describe, expect, test } from "vitest";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { aKey, anApplication, dataOf, outcomeOf } from "../setup/factories.ts";
import { forTest } from "../setup/for-file.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import type { CallOptions } from "../setup/relay.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { allEvents, statsOfEvents } from "../webhooks/stats-of-events.ts";

const { relay } = useSandboxedRelay();
const DAY_MS = 24 * 60 * 60_000;
const world = forTest(() => aPublisher(relay, ["bluesky"]));

const call = (query = "", options: CallOptions = { key: world.key }) =>
  relay.call("GET", `/v1/applications/${world.application.id}/stats${query}`, options);
const stats = async (query = "") => dataOf(await call(query));
const dayIn = (days: number) =>
  new Date(relay.clock.now().getTime() + days * DAY_MS).toISOString().slice(0, 10);

/** A post that fails on its only network, without an answer. */
async function failedPost(): Promise<string> {
  const { outbound } = relay.services.connections;
  const request = outbound.request.bind(outbound);
  outbound.request = () => Promise.reject(new HttpFailure("in_doubt", "timeout"));
  const { id } = await world.accept({ text: unique("Bad"), platforms: ["bluesky"] });
  await world.settle(id);
  outbound.request = request;
  return id;
}

/** Lets everything end, and become old enough to be counted. */
async function settleAll(ids: readonly string[]): Promise<void> {
  for (const id of ids) await world.settle(id);
  await relay.drain();
  relay.advance(16_000);
}

describe("what ended in an application", () => {
  test("is counted by day, state, network and code, as its events are", async () => {
    const both = { platforms: ["bluesky", "mastodon"] };
    const succeeded = await world.accept({ text: unique("Good"), platforms: ["bluesky"] });
    const partial = await world.accept({ text: unique("Half"), ...both });
    const scheduleAt = new Date(relay.clock.now().getTime() + DAY_MS).toISOString();
    const canceled = await world.accept({ text: unique("No"), platforms: ["bluesky"], scheduleAt });
    await world.cancel(canceled.id);
    await settleAll([succeeded.id, partial.id]);
    await failedPost();
    await settleAll([]);
    const { asOf, days } = await stats();
    expect(days).toHaveLength(1);
    expect(days[0].posts).toEqual({ succeeded: 1, partial: 1, failed: 1, canceled: 1 });
    expect(days[0].legs.mastodon).toEqual({
      succeeded: 0,
      failed: 1,
      failedBy: { connection_missing: 1 },
    });
    expect(days[0].legs.bluesky).toMatchObject({ succeeded: 2, failed: 1 });
    expect(days).toEqual(statsOfEvents(await allEvents(relay, world.application)));
    const behindMs = relay.clock.now().getTime() - Date.parse(asOf);
    expect(behindMs).toBeGreaterThanOrEqual(15_000);
    expect(behindMs).toBeLessThan(16_000);
    // Nothing new: the same again.
    expect((await stats()).days).toEqual(days);
  });

  test("counts a post that is retried twice", async () => {
    const { id } = await world.accept({
      text: unique("Twice"),
      platforms: ["bluesky", "mastodon"],
    });
    await settleAll([id]);
    await linkSandboxAccount(relay.services, world.owner, "mastodon");
    await world.retry(id);
    await settleAll([id]);
    const { days } = await stats();
    expect(days[0].posts).toMatchObject({ partial: 1, succeeded: 1 });
    expect(days[0].legs.mastodon).toMatchObject({ failed: 1, succeeded: 1 });
  });

  test("is not counted while it is younger than 15 seconds, and asOf says so", async () => {
    relay.advance(60_000);
    const before = relay.clock.now().getTime();
    const { id } = await world.accept({ text: unique("Young"), platforms: ["bluesky"] });
    await world.settle(id);
    const { asOf, days } = await stats();
    expect(days).toEqual([]);
    expect(Date.parse(asOf)).toBeLessThan(before);
    relay.advance(16_000);
    const later = await stats();
    expect(later.days[0].posts.succeeded).toBe(1);
    expect(Date.parse(later.asOf)).toBeGreaterThan(before);
  });

  test("a range has both of its days and none outside, oldest first, without empty days", async () => {
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await world.accept({ text: unique("Daily"), platforms: ["bluesky"] });
      await settleAll([id]);
      made.push(dayIn(0));
      relay.advance(2 * DAY_MS);
    }
    const daysOf = async (query: string) =>
      (await stats(query)).days.map(({ day }: { readonly day: string }) => day);
    expect(await daysOf("")).toEqual(made);
    expect(await daysOf(`?from=${made[1]}&to=${made[1]}`)).toEqual([made[1]]);
    expect(await daysOf(`?from=${made[1]}`)).toEqual(made.slice(1));
    expect(await daysOf(`?to=${made[1]}`)).toEqual(made.slice(0, 2));
    expect(await daysOf(`?from=${dayIn(2)}`)).toEqual([]);
    expect(await daysOf("?from=2020-01-01&to=2020-03-01")).toEqual([]);
    // The default has thirty days, with today.
    relay.advance(23 * DAY_MS);
    expect(dayIn(-29)).toBe(made[0]);
    expect(await daysOf("")).toEqual(made);
    relay.advance(DAY_MS);
    expect(await daysOf("")).toEqual(made.slice(1));
  });

  test("a range is refused that is longer than 92 days, reversed or not of days", async () => {
    const issuesOf = async (query: string) => {
      const answer = await call(query);
      expect(answer.status, query).toBe(400);
      return answer.body.error.details.issues;
    };
    expect(outcomeOf(await call("?from=2026-01-01&to=2026-04-02"))).toBe("200");
    expect(await issuesOf("?from=2026-01-01&to=2026-04-03")).toMatchObject([
      { path: "from", code: "range_too_large" },
    ]);
    expect(await issuesOf(`?from=${dayIn(-92)}`)).toMatchObject([{ path: "from" }]);
    expect(outcomeOf(await call(`?from=${dayIn(-91)}`))).toBe("200");
    expect(await issuesOf("?from=2026-01-02&to=2026-01-01")).toMatchObject([{ path: "to" }]);
    const all = await issuesOf("?from=2026-01-02&to=2026-01-01&limit=5");
    expect(all.map(({ path }: { readonly path: string }) => path).sort()).toEqual(["limit", "to"]);
    for (const day of ["2026-02-30", "2026-1-1", "2026-01-01T00:00:00Z", "yesterday", ""])
      expect(await issuesOf(`?from=${day}`), day).toMatchObject([{ path: "from" }]);
    for (const range of ["?to=0000-01-01", "?from=9999-12-31", "?from=9999-12-01&to=9999-12-31"])
      expect(dataOf(await call(range)).days, range).toEqual([]);
  });

  test("is shown to app_admin keys of the application and to sessions of its platform alone", async () => {
    const { id } = await world.accept({ text: unique("Own"), platforms: ["bluesky"] });
    await settleAll([id]);
    const { platform } = world.application;
    const sibling = await anApplication(relay, platform);
    const foreign = await anApplication(relay);
    expect(dataOf(await call("", { session: platform.session })).days).toHaveLength(1);
    const own = await relay.call("GET", `/v1/applications/${sibling.id}/stats`, {
      session: platform.session,
    });
    expect(dataOf(own).days).toEqual([]);
    for (const caller of [
      { key: sibling.key },
      { key: foreign.key },
      { session: foreign.platform.session },
      { session: platform.session, headers: { "x-application-id": sibling.id } },
    ])
      expect(outcomeOf(await call("", caller))).toBe("404 not_found");
    const { secret } = await aKey(relay, world.application, { scope: "restricted" });
    expect(outcomeOf(await call("", { key: secret }))).toBe("403 app_admin_required");
  });
});
