import { rmSync } from "node:fs";
import { test } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../../dev/networks/bluesky/state.ts";
import { workers } from "../../../src/functions/workers.ts";
import { Browser, decide, locationOf } from "../../connect/browser.ts";
import { aKey, anApplication } from "../../setup/factories.ts";
import type { Relay } from "../../setup/relay.ts";
import { writeDump } from "./dump.ts";
import { dataOf, nothingKnown, type Known } from "./known.ts";
import {
  endedPosts,
  heldLegs,
  MINUTE,
  pendingPosts,
  Posts,
  scheduledPosts,
  sentLegs,
  soonPosts,
  unknownPosts,
  waitingLegs,
} from "./posts.ts";
import {
  link,
  linkUntold,
  oldTenants,
  PASSWORD,
  publisherOf,
  smallPlatform,
  type OldPublisher,
} from "./tenants.ts";
import {
  endedDeliveries,
  freshDeliveries,
  openDeliveries,
  queuedDeliveries,
  Webhooks,
} from "./webhooks.ts";
import { openOldWorld, SERVERS, SETTINGS, type OldWorld } from "./world.ts";

const BLUESKY = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
const server = (index: number) => ({ instance: SERVERS[index] ?? "" });

const browserOf = (world: OldWorld) => new Browser(world);

async function connectSession(world: OldWorld, of: OldPublisher, body: object) {
  const path = `/v1/profiles/${of.profile.id}/connect/sessions`;
  const made = dataOf(await world.relay.call("POST", path, { key: of.key, body }));
  return { id: String(made.id), url: String(made.connectUrl) };
}

async function endedConnectSessions(world: OldWorld, of: OldPublisher, known: Known) {
  const { relay } = world;
  const done = await connectSession(world, of, { platforms: ["bluesky"], state: "done" });
  const browser = browserOf(world);
  await browser.submit(await browser.get(done.url), "bluesky", BLUESKY);
  known.connectSessions.completed = done;
  const canceled = await connectSession(world, of, {});
  const path = `/v1/connect/sessions/${canceled.id}/cancel`;
  dataOf(await relay.call("POST", path, { key: of.key }));
  known.connectSessions.canceled = canceled;
  const left = await connectSession(world, of, { platforms: ["mastodon"] });
  const visitor = browserOf(world);
  await visitor.submit(await visitor.get(left.url), "mastodon", server(5));
  known.connectSessions.expired = left;
}

/** Sessions that end users are in the middle of. */
async function openConnectSessions(world: OldWorld, of: OldPublisher, known: Known) {
  known.connectSessions.open = await connectSession(world, of, {
    returnUrl: "https://app.customer.test/back",
    state: "of the customer",
    branding: { name: "Planner", accentColor: "#2457d6" },
  });
  const away = await connectSession(world, of, { platforms: ["mastodon"] });
  const browser = browserOf(world);
  const started = await browser.submit(await browser.get(away.url), "mastodon", server(5));
  const callback = await decide(locationOf(started), "allow");
  known.connectSessions.atTheNetwork = { ...away, callback, cookie: browser.cookie ?? "" };
  const choosing = await connectSession(world, of, { platforms: ["facebook"] });
  const chooser = browserOf(world);
  const begun = await chooser.submit(await chooser.get(choosing.url), "facebook", {});
  const back = await decide(locationOf(begun), "allow");
  const page = locationOf(await chooser.get(back));
  known.connectSessions.choosing = { ...choosing, callback: page, cookie: chooser.cookie ?? "" };
}

/** Profiles whose erasure has come so far and no further. */
async function erasing(world: OldWorld, posts: Posts, publishers: readonly OldPublisher[]) {
  const { relay } = world;
  const [removing, clearing, closing] = publishers;
  if (removing === undefined || clearing === undefined || closing === undefined) throw new Error();
  const erase = ({ profile, key }: OldPublisher) =>
    relay.call("POST", `/v1/profiles/${profile.id}/erase`, { key }).then(dataOf);
  const write = (name: string, of: OldPublisher, scheduleAt?: string) =>
    posts.submit(name, of, {
      text: `Of a profile that goes: ${name}`,
      platforms: ["mastodon"],
      ...(scheduleAt === undefined ? {} : { scheduleAt }),
    });
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      relay.advance(MINUTE);
      await world.runTimer("erase-profiles");
      await relay.drain();
    }
  };
  // The last thing of it can't be removed by this process.
  const { profiles } = relay.services;
  profiles.delete = () => Promise.reject(new Error("the process ends here"));
  const one = await write("erasedAlready", removing);
  await posts.settle(removing, one);
  await erase(removing);
  await pass(40);
  const two = await write("beingCleared", clearing);
  await posts.settle(clearing, two);
  await erase(clearing);
  await pass(11);
  return async () => {
    await posts.submitUnheard("erasedWhileOpen", closing, {
      text: "Still on its way",
      platforms: ["mastodon"],
    });
    await erase(closing);
    await world.runTimer("erase-profiles");
  };
}

async function failedLogIns(relay: Relay) {
  const wrong = (email: string) =>
    relay.call("POST", "/v1/auth/login", { body: { email, password: "not the password" } });
  await wrong("small@example.com");
  for (let nth = 0; nth < 5; nth += 1) await wrong("blocked@example.com");
}

/** Fills the wallet's day, so that a spend is refused and told once. */
async function spendBudget(world: OldWorld, posts: Posts, small: OldPublisher) {
  const { relay } = world;
  const body = { text: "Open until noon", platforms: ["mastodon"] as const };
  const first = await posts.submit("low", small, body);
  await posts.settle(small, first);
  const logIn = { body: { email: "small@example.com", password: PASSWORD } };
  const { token: session } = dataOf(await relay.call("POST", "/v1/auth/login", logIn));
  const limits = { session, body: { dailyTokenBudget: 1 } };
  dataOf(await relay.call("PATCH", "/v1/billing/limits", limits));
  const refused = await relay.call("POST", "/v1/posts", {
    key: small.key,
    headers: { ...small.headers, "idempotency-key": "old-data-refused" },
    body: { ...body, text: "Too dear for today" },
  });
  if (refused.status < 400) throw new Error("the budget did not hold");
}

/** What waits in the queues; of messages that say the same, two. */
function waitingIn(relay: Relay) {
  const seen = new Map<string, number>();
  return relay.queues.waiting.filter(({ queue, message }) => {
    const text = JSON.stringify([queue, { ...message, trace: "" }]);
    seen.set(text, (seen.get(text) ?? 0) + 1);
    return (seen.get(text) ?? 0) <= 2;
  });
}

test("the dump is made", async () => {
  const known = nothingKnown();
  const world = await openOldWorld();
  const { before, relay } = world;
  const posts = new Posts(world, known);
  try {
    const { application, bakery } = await oldTenants(before, known);
    const expiring = await publisherOf(before, application, "Expiring");
    await link(before, expiring, "linkedin");
    known.profiles.expiring = expiring.profile.id;
    const florist = await publisherOf(before, application, "Florist");
    await link(before, florist, "mastodon", server(0));
    known.profiles.florist = florist.profile.id;
    await posts.settle(
      florist,
      await posts.submit(
        "first",
        florist,
        { text: "Before the rotation", platforms: ["mastodon"] },
        before,
      ),
      before,
    );
    // A LinkedIn token lives for sixty days.
    before.advance(56 * 24 * 60 * MINUTE);

    // Pepper and data key are rotated; some rows hear of it, others do not.
    for (const network of ["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const)
      await link(relay, bakery, network);
    const others: OldPublisher[] = [];
    for (const [index, name] of [
      "Cobbler",
      "Tailor",
      "Removing",
      "Clearing",
      "Closing",
    ].entries()) {
      const one = await publisherOf(relay, application, name);
      await link(relay, one, "mastodon", server(1 + Math.min(index, 2)));
      known.profiles[name.toLowerCase()] = one.profile.id;
      others.push(one);
    }
    const [cobbler, tailor, ...goers] = others;
    if (cobbler === undefined || tailor === undefined) throw new Error("nobody is there");
    // Its hash is renewed by this.
    const owner = { body: { email: "owner@example.com", password: PASSWORD } };
    const { token } = dataOf(await relay.call("POST", "/v1/auth/login", owner));
    const platform = { ...application.platform, session: String(token) };
    const hooks = await anApplication(relay, platform, { name: "Hooks" });
    known.applications.hooks = hooks.id;
    known.keys.hooks = { id: hooks.keyId, secret: hooks.key };
    const crier = await publisherOf(relay, hooks, "Crier");
    known.profiles.crier = crier.profile.id;
    await link(relay, crier, "mastodon", server(4));
    const by = { bakery, florist, cobbler, tailor, crier };
    const webhooks = new Webhooks(world, known, hooks);
    await endedDeliveries(world, webhooks);

    const visited = await publisherOf(relay, application, "Visited");
    known.profiles.visited = visited.profile.id;
    await endedConnectSessions(world, visited, known);
    const oauth = await publisherOf(relay, application, "By OAuth");
    known.profiles.oauth = oauth.profile.id;
    await link(relay, oauth, "bluesky", { identifier: DEMO_HANDLE });
    await unlinkAndRefuse(world, posts, { application, known });

    await endedPosts(world, posts, by);
    const resending = await unknownPosts(world, posts, florist);
    const small = await smallPlatform(relay, known);
    known.profiles.kiosk = small.profile.id;
    await link(relay, small, "mastodon", server(3));
    await spendBudget(world, posts, small);
    for (const timer of [
      "find-forgotten-work",
      "reconcile-wallets",
      "look-after-accounts",
      "purge-expired-rows",
    ])
      await world.runTimer(timer);
    // A process of before the rotation that runs still.
    const late = await publisherOf(relay, application, "Late");
    known.profiles.late = late.profile.id;
    await link(before, late, "mastodon", server(5));
    const eraseLast = await erasing(world, posts, goers);

    const happen = {
      canceled: async () => {
        for (const nth of [1, 2]) {
          const name = `calledOff${nth}`;
          const scheduleAt = new Date(relay.clock.now().getTime() + 60 * MINUTE).toISOString();
          const draft = { text: `Called off ${nth}`, platforms: ["mastodon"] as const, scheduleAt };
          const id = await posts.submit(name, crier, draft);
          const { key, headers } = crier;
          dataOf(await relay.call("DELETE", `/v1/posts/${id}`, { key, headers }));
        }
      },
      scheduled: async () => {
        for (const nth of [1, 2, 3])
          await posts.submit(`announced${nth}`, crier, {
            text: `Announced ${nth}`,
            platforms: ["mastodon"],
            scheduleAt: new Date(relay.clock.now().getTime() + (60 + nth) * MINUTE).toISOString(),
          });
      },
    };
    await scheduledPosts(world, posts, florist);
    await relay.drain();
    const released = await openDeliveries(world, webhooks, happen);
    await sentLegs(world, posts, bakery);
    await linkUntold(relay, oauth, "mastodon", server(5));
    await waitingLegs(world, posts, by);
    await heldLegs(world, posts, by);
    await freshDeliveries(world, webhooks);
    await openConnectSessions(world, visited, known);
    await eraseLast();
    await failedLogIns(relay);
    await world.runTimer("fire-due-posts");
    await soonPosts(world, posts, cobbler);
    await pendingPosts(posts, by, { of: florist, postId: resending });
    await queuedDeliveries(world, webhooks);

    known.sessions.owner = dataOf(await relay.call("POST", "/v1/auth/login", owner)).token;
    const grant = { profileId: florist.profile.id, expiresIn: 7_200 };
    const minted = await relay.call("POST", "/v1/profile-grants", { key: bakery.key, body: grant });
    known.grants.florist = dataOf(minted).token;
    known.keys.ofToday = await aKey(relay, application);
    const poison = { v: 1, platformId: "plt_nobody", of: "a later build, or of nobody" };
    for (const { queue, handle } of workers)
      if (queue === "publish-legs-poison") await handle(relay.services, poison);
    // Counts of requests are exchanged a little later.
    await new Promise((resolve) => setTimeout(resolve, 2_500));

    const now = relay.clock.now();
    known.now = now.toISOString();
    known.settings = SETTINGS;
    const queued = (queue: string, message: object) => ({ queue, message, dueAt: now.getTime() });
    const messages = [
      ...waitingIn(relay),
      ...waitingIn(world.dying),
      ...released.map((message) => queued("deliver-webhooks", message)),
      ...["publish-legs", "fire-posts", "fan-out-events", "deliver-webhooks"].map((queue) =>
        queued(`${queue}-poison`, poison),
      ),
    ];
    // Writes down what it keeps.
    await world.sandbox.stop();
    await writeDump(relay, { known, messages, sandbox: world.folder });
  } finally {
    await world.close();
    rmSync(world.folder, { recursive: true, force: true });
  }
});

/** An account that was unlinked, and one that its network refuses. */
async function unlinkAndRefuse(
  world: OldWorld,
  posts: Posts,
  { application, known }: { application: OldPublisher["application"]; known: Known },
) {
  const { relay } = world;
  const refused = await publisherOf(relay, application, "Refused");
  known.profiles.refused = refused.profile.id;
  await link(relay, refused, "mastodon", server(6));
  const id = await posts.submit("refused", refused, {
    text: "No longer ours [fail:connection_needs_reauth]",
    platforms: ["mastodon"],
  });
  await posts.settle(refused, id);
  const unlinked = await publisherOf(relay, application, "Unlinked");
  known.profiles.unlinked = unlinked.profile.id;
  await link(relay, unlinked, "bluesky");
  const { key } = unlinked;
  const path = `/v1/profiles/${unlinked.profile.id}/connections`;
  const [connection] = dataOf(await relay.call("GET", path, { key }));
  await relay.call("DELETE", `${path}/${connection.id}`, { key });
  // Linked for a while, so that it could be scheduled.
  await link(relay, unlinked, "mastodon", server(6));
  await posts.submit("unlinkedBeforeItsTime", unlinked, {
    text: "Its account went first",
    platforms: ["mastodon"],
    scheduleAt: new Date(relay.clock.now().getTime() + 2 * MINUTE).toISOString(),
  });
  const [other] = dataOf(await relay.call("GET", path, { key })).filter(
    ({ status }: { status: string }) => status === "active",
  );
  await relay.call("DELETE", `${path}/${other.id}`, { key });
  relay.advance(3 * MINUTE);
  await world.runTimer("fire-due-posts");
  await relay.drain();
}
