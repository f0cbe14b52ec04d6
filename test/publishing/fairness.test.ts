import { describe, expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { sha256Hex } from "../../src/shared/runtime/secrets.ts";
import { toLeg } from "../../src/shared/publishing/post-row.ts";
import { legKey } from "../../src/shared/publishing/post-store.ts";
import { postWake } from "../../src/shared/publishing/post.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import type { NetworkAccount } from "../../src/shared/publishing/accounts/account-store.ts";
import type {
  AccountLease,
  QueuedLeg,
} from "../../src/shared/publishing/accounts/account-queue-store.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { hintWakes } from "../../src/shared/wake/wake.ts";
import { sweepStalledLegs, runRound } from "../setup/walks.ts";
import { findConnection } from "../setup/stored.ts";

const { relay, visible } = useSandboxedRelay();

describe("a platform with many requests at the same moment", () => {
  test(
    "a busy platform delays another platform's post only by its first few legs",
    { timeout: 180_000 },
    async () => {
      const busy = await aPublisher(relay, ["bluesky"]);
      const quiet = await aPublisher(relay, ["bluesky"]);
      const { platformId } = busy.owner;
      const credit = { operator: ["Admin"], body: { platformId, tokens: 10_000 } };
      dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
      const word = unique("Busy");
      const began = relay.clock.now().getTime();
      const many = 150;
      for (let index = 0; index < many; index += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            busy.submit({ text: `${word} no. ${index + n}`, platforms: ["bluesky"] }),
          ),
        );
      const text = unique("Quiet");
      let [ahead, passedMs] = [Infinity, Infinity];
      const { outbound } = relay.services.connections;
      const request = outbound.request.bind(outbound);
      outbound.request = (asked) => {
        if (typeof asked.body === "string" && asked.body.includes(text)) {
          ahead = visible(word).length;
          passedMs = relay.clock.now().getTime() - began;
        }
        return request(asked);
      };
      const { id } = await quiet.accept({ text, platforms: ["bluesky"] });
      await relay.drain();
      outbound.request = request;
      const post = await quiet.read(id);
      const lateMs = Date.parse(post.legs[0].publishedAt) - Date.parse(post.createdAt);
      process.stdout.write(
        `fairness: of ${many} legs that were asked for before it, ${ahead} were published before the quiet platform's, ${lateMs} ms after it was asked for\n`,
      );
      // Fifty at once, and ten for every second since.
      expect(ahead).toBeLessThanOrEqual(51 + passedMs / 100);
      expect(ahead).toBeLessThan(many);
      expect(lateMs).toBeLessThan(10_000);
      // The sweeper does not bring the others forward, and in the end all are out, at the platform's pace.
      const soFar = visible(word).length;
      relay.queues.onSend = () => {
        throw new Error("nothing is stalled");
      };
      await sweepStalledLegs(relay.services);
      relay.queues.onSend = () => "keep";
      expect(visible(word)).toHaveLength(soFar);
      const from = relay.clock.now().getTime();
      while (visible(word).length < many) {
        relay.advance(1_000);
        await relay.drain();
        expect(relay.clock.now().getTime() - from).toBeLessThan(60_000);
      }
    },
  );

  test("a busy platform's posts of one minute start at a rate, and another platform's to the second", async () => {
    const { wakes } = relay.services.webhooks;
    const now = relay.clock.now();
    const dueAt = new Date(now.getTime() + 30_000).toISOString();
    const dueOf = (platformId: string) =>
      postWake({ platformId, profileId: newId("profile", now), postId: newId("post", now) }, dueAt);
    const [busy, quiet] = [newId("platform", now), newId("platform", now)];
    const rows = [...Array.from({ length: 300 }, () => dueOf(busy)), dueOf(quiet)];
    await Promise.all(rows.map((row) => wakes.add(row, now)));
    /** When each platform's hints are seen, in seconds from now. */
    const seen = new Map<string, number[]>();
    const hint = ({ platformId }: (typeof rows)[number], seconds: number) => {
      const passed = (relay.clock.now().getTime() - now.getTime()) / 1000;
      seen.set(platformId, [...(seen.get(platformId) ?? []), passed + seconds]);
      return Promise.resolve();
    };
    await runRound(relay.services, {
      name: "test",
      every: "tick",
      behindSecondsMax: 60,
      begin: (services) => hintWakes(services.webhooks, { kind: "post", what: "test", hint }),
    });
    const ofBusy = (seen.get(busy) ?? []).toSorted((left, right) => left - right);
    expect(ofBusy).toHaveLength(300);
    const exact = seen.get(quiet)?.[0] ?? 0;
    // A look at the test's clock takes a millisecond, and a hint is 20 ms behind the one before.
    expect(exact).toBeCloseTo(30, 2);
    expect(ofBusy.filter((seconds) => seconds < exact + 0.01)).toHaveLength(50);
    expect((ofBusy.at(-1) ?? 0) - exact).toBeCloseTo(5, 1);
    await Promise.all(rows.map((row) => wakes.remove(row)));
  });
});

describe("an account", () => {
  const account = (id: string) => ({ network: "bluesky", accountId: unique(id) }) as const;
  const claim = (seconds = 120) => {
    const now = relay.clock.now();
    return { now, until: new Date(now.getTime() + seconds * 1000).toISOString() };
  };
  /** A leg of nobody's post: the queue only passes on where it is. */
  const aLeg = (legKey: string): QueuedLeg => {
    const now = relay.clock.now();
    const ref = { platformId: newId("platform", now), profileId: newId("profile", now) };
    return { legKey, ref: { ...ref, postId: newId("post", now) } };
  };
  async function take(own: NetworkAccount, leg: QueuedLeg, seconds?: number) {
    const taking = await relay.services.publishing.stores.accountQueues.take(
      own,
      leg,
      claim(seconds),
    );
    return taking.kind === "taken" ? taking.lease : undefined;
  }
  async function taken(
    own: NetworkAccount,
    leg: QueuedLeg,
    seconds?: number,
  ): Promise<AccountLease> {
    const taking = await take(own, leg, seconds);
    if (taking === undefined) throw new Error(`${leg.legKey} is queued`);
    return taking;
  }
  const release = (lease: AccountLease) =>
    relay.services.publishing.stores.accountQueues.release(lease, relay.clock.now());
  const rowOf = ({ accountId }: NetworkAccount) =>
    relay.tables.accounts.find(`bluesky|${sha256Hex(accountId)}`, "B");

  test("an account publishes one leg at a time, in the order of acceptance", async () => {
    const own = account("one at a time");
    let turn = await taken(own, aLeg("1 first"));
    const queue = ["2 second", "3 third", "4 fourth"].map(aLeg);
    for (const leg of queue.toReversed()) {
      expect(await take(own, leg)).toBeUndefined();
      // Asked again, as a doubled hint does: it is queued once.
      expect(await take(own, leg)).toBeUndefined();
    }
    for (const leg of queue) {
      expect(await release(turn)).toEqual(leg);
      // A leg that comes in between does not get it.
      expect(await take(own, aLeg("9 somebody else"))).toBeUndefined();
      turn = await taken(own, leg);
    }
    const last = await release(turn);
    expect(last?.legKey).toBe("9 somebody else");
    expect(await release(await taken(own, aLeg("9 somebody else")))).toBeUndefined();
    expect(await rowOf(own)).toBeUndefined();
  });

  test("waiting legs are hinted for the end of a lease that was held too long", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { connections } = relay.services.connections.stores;
    const linked = await connections.find({ ...publisher.owner, network: "bluesky" });
    const own = { network: "bluesky", accountId: linked?.account.id ?? "" } as const;
    await taken(own, aLeg("1 of a dead worker"), 50);
    const text = unique("Behind a dead worker");
    await publisher.submit({ text, platforms: ["bluesky"] });
    await relay.drain();
    expect(visible(text)).toHaveLength(0);
    relay.advance(51_000);
    await relay.drain();
    expect(visible(text)).toHaveLength(1);
  });

  test("an account handed over to a leg whose worker does not come is soon free for the next leg", async () => {
    const own = account("does not come");
    const first = await taken(own, aLeg("1 first"));
    for (const legKey of ["2 lost", "3 third"]) await take(own, aLeg(legKey));
    expect((await release(first))?.legKey).toBe("2 lost");
    expect(await take(own, aLeg("4 late"))).toBeUndefined();
    relay.advance(11_000);
    const late = await taken(own, aLeg("4 late"));
    expect((await release(late))?.legKey).toBe("3 third");
  });

  test("an account without waiting legs leaves no row behind", async () => {
    const own = account("idle");
    for (const legKey of ["first", "second"]) {
      expect(await release(await taken(own, aLeg(legKey)))).toBeUndefined();
      expect(await rowOf(own)).toBeUndefined();
    }
  });

  test("after a worker's death its account is free for the same leg immediately, and for others after the lease", async () => {
    const own = account("dead");
    const dead = await taken(own, aLeg("dead"));
    await taken(own, aLeg("dead"));
    expect(await take(own, aLeg("other"))).toBeUndefined();
    relay.advance(121_000);
    await taken(own, aLeg("other"));
    // The dead one lives after all: it takes nothing from who has it now.
    expect(await release(dead)).toBeUndefined();
    expect(await take(own, aLeg("third"))).toBeUndefined();
  });

  test("of many legs that ask for an account exactly one gets it, and each of the others is called once", async () => {
    const own = account("race");
    const legs = Array.from({ length: 12 }, (_, index) => aLeg(`leg ${index}`));
    const takings = await Promise.all(legs.map((leg) => take(own, leg)));
    const [winner, ...others] = takings.filter((taking) => taking !== undefined);
    expect(others).toEqual([]);
    if (winner === undefined) throw new Error("nobody got the account");
    const called: string[] = [winner.legKey];
    for (let turn = winner; ;) {
      const next = await release(turn);
      if (next === undefined) break;
      called.push(next.legKey);
      turn = await taken(own, next);
    }
    expect(called.toSorted()).toEqual(legs.map(({ legKey }) => legKey).toSorted());
  });

  test("an account's queue has any length, and skips rows that are damaged or belong to the leg itself", async () => {
    const own = account("long queue");
    const { accounts } = relay.tables;
    let turn = await taken(own, aLeg("first"));
    const queue = Array.from({ length: 250 }, (_, index) =>
      aLeg(`waits ${String(index).padStart(3, "0")}`),
    );
    for (const leg of queue) expect(await take(own, leg)).toBeUndefined();
    const partition = `bluesky|${sha256Hex(own.accountId)}`;
    await accounts.putProperties(partition, { rowKey: "B|waits 001", postId: 7 });
    await accounts.put(partition, { rowKey: "B|first", ...aLeg("first").ref });
    for (const leg of queue.toSpliced(1, 1)) {
      expect(await release(turn)).toEqual(leg);
      turn = await taken(own, leg);
    }
    expect(await release(turn)).toBeUndefined();
    expect(await accounts.list({ partitionKey: partition, limit: 10 })).toEqual([]);
  });

  test("an account handed over to a leg that has ended is passed on immediately", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Ended in its queue");
    const { id } = await publisher.accept({ text, platforms: ["bluesky"] });
    await publisher.settle(id);
    const leg = await relay.tables.core.find(
      publisher.owner.platformId,
      legKey({ profileId: publisher.owner.profileId, postId: id }, "bluesky"),
    );
    const { calls, account: linked } = toLeg(leg?.row ?? { rowKey: "" });
    const [{ key }] = calls;
    const own = { network: "bluesky", accountId: linked?.id ?? "" } as const;
    const turn = await taken(own, aLeg("0 first"));
    await take(own, { legKey: key, ref: { ...publisher.owner, postId: id } });
    const behind = aLeg("z behind it");
    await take(own, behind);
    const next = await release(turn);
    expect(next?.legKey).toBe(key);
    const hinted: object[] = [];
    relay.queues.onSend = (message) => {
      if ("networks" in message) hinted.push(message);
      return "keep";
    };
    await publishLegs(relay.services.publishing, {
      ...publisher.owner,
      postId: id,
      networks: ["bluesky"],
    });
    relay.queues.onSend = () => "keep";
    expect(hinted).toEqual([expect.objectContaining({ ...behind.ref, networks: ["bluesky"] })]);
    expect((await rowOf(own))?.row["leaseId"]).toBe("z behind it");
    expect(
      await relay.services.publishing.stores.accountQueues.releaseOf(
        own,
        "z behind it",
        relay.clock.now(),
      ),
    ).toBeUndefined();
  });

  test("an account is handed over when the answer to the handover is lost, applied or not", async () => {
    for (const isDone of [true, false]) {
      const own = account("lost answer");
      const turn = await taken(own, aLeg("1 first"));
      await take(own, aLeg("2 second"));
      const { accounts } = relay.tables;
      const transact = accounts.transact.bind(accounts);
      accounts.transact = async (...asked) => {
        accounts.transact = transact;
        if (isDone) await transact(...asked);
        return { kind: "in_doubt", cause: new Error("lost") };
      };
      expect((await release(turn))?.legKey).toBe("2 second");
      expect((await rowOf(own))?.row["leaseId"]).toBe("2 second");
    }
  });

  test("legs that wait for a slow account cost few messages, and one when they begin", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { platformId } = publisher.owner;
    const credit = { operator: ["Admin"], body: { platformId, tokens: 10_000 } };
    dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
    const linked = await findConnection(relay.services, publisher.owner, "bluesky");
    const own = { network: "bluesky", accountId: linked?.account.id ?? "" } as const;
    const slow = await taken(own, aLeg("0 slow"), 3_600);
    let messages = 0;
    relay.queues.onSend = (message) => {
      if ("networks" in message) messages += 1;
      return "keep";
    };
    const legs = 230;
    const word = unique("In a long queue");
    for (let index = 0; index < legs; index += 1) {
      const text = `${word} no. ${String(index)}`;
      await publisher.submit({ text, platforms: ["bluesky"] });
    }
    for (let minute = 0; minute < 30; minute += 1) {
      relay.advance(60_000);
      await sweepStalledLegs(relay.services);
      await relay.drain();
    }
    const waiting = messages;
    expect(visible(word)).toEqual([]);
    const next = await release(slow);
    if (next === undefined) throw new Error("nobody is queued");
    await relay.services.publishing.stores.publishQueue.hint({
      kind: "legs",
      ...next.ref,
      networks: ["bluesky"],
    });
    await relay.drain();
    relay.queues.onSend = () => "keep";
    expect(visible(word)).toHaveLength(legs);
    const each = { waiting: waiting / legs, called: (messages - waiting) / legs };
    process.stdout.write(`a slow account: messages of each leg ${JSON.stringify(each)}\n`);
    // A message that comes late in a lease also brings one for its end.
    expect(each.called).toBeLessThan(1.1);
    // The first one, and those of the sweep after 1, 2, 4, 8 and 15 minutes.
    expect(each.waiting).toBeLessThan(7);
  });

  async function submitted(publisher: Publisher, text: string): Promise<string> {
    const answer = await publisher.submit({ text, platforms: ["bluesky"] });
    return dataOf(answer).id as string;
  }

  test("an account publishes simultaneous posts one after the other, and each counts one attempt", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    relay.queues.onSend = () => "lose";
    const texts = Array.from({ length: 4 }, () => unique("Side by side"));
    const posts: string[] = [];
    for (const text of texts) posts.push(await submitted(publisher, text));
    relay.queues.onSend = () => "keep";
    const { outbound } = relay.services.connections;
    const request = outbound.request.bind(outbound);
    let [inHand, most] = [0, 0];
    outbound.request = async (asked) => {
      inHand += 1;
      most = Math.max(most, inHand);
      try {
        return await request(asked);
      } finally {
        inHand -= 1;
      }
    };
    const publish = (postId: string) =>
      publishLegs(relay.services.publishing, { ...publisher.owner, postId, networks: ["bluesky"] });
    await Promise.all(posts.map(publish));
    for (const postId of posts) await publisher.settle(postId);
    outbound.request = request;
    expect(most).toBe(1);
    for (const [index, postId] of posts.entries()) {
      expect(visible(texts[index] ?? "")).toHaveLength(1);
      expect(await publisher.read(postId)).toMatchObject({
        status: "succeeded",
        legs: [{ attempts: 1 }],
      });
    }
  });
});
