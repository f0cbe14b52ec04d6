import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../dev/networks/bluesky/state.ts";
import { Browser, formsOf, readable } from "../connect/browser.ts";
import { authenticatorOf } from "../setup/authenticator.ts";
import { dataOf, outcomeOf } from "../setup/factories.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { status, type Received } from "../webhooks/receiver.ts";
import { named, type KnownPost } from "./dumped.ts";
import { openOldData, type OldData } from "./open.ts";

/** Every walk goes round in each minute that passes, over the emulator's tables. */
vi.setConfig({ testTimeout: 60_000 });

const DAY_MINUTES = 24 * 60;
const MINUTE = 60_000;
/** Of a leg that was published, in tokens. */
const PRICE = 10;
const ALL = ["linkedin", "facebook", "instagram", "bluesky", "mastodon"];

let old: OldData;

beforeAll(async () => {
  old = await openOldData();
});
afterAll(() => old?.close());

const key = (name: string) => ({ key: named(old.known.keys, name).secret });
const session = () => ({ session: named(old.known.sessions, "owner") });
const profile = (name: string) => named(old.known.profiles, name);
const get = (path: string, options: Parameters<OldData["relay"]["call"]>[2]) =>
  old.relay.call("GET", path, options);

/** Who may see the post. */
function ofPost({ profileId }: KnownPost) {
  const { profiles } = old.known;
  const keyOf =
    { [profiles["crier"] ?? ""]: "hooks", [profiles["kiosk"] ?? ""]: "small" }[profileId] ??
    "admin";
  return { ...key(keyOf), headers: { "x-profile-id": profileId } };
}

async function readPost(name: string) {
  const post = named(old.known.posts, name);
  return dataOf(await get(`/v1/posts/${post.id}`, ofPost(post)));
}

/** What readers of all networks see of a post. */
function visible(name: string) {
  const { text } = named(old.known.posts, name).body;
  return old.sandbox.posts().filter((post) => post.text.includes(String(text)));
}

function submitAgain(post: KnownPost, body: object = post.body) {
  const { headers, ...by } = ofPost(post);
  return old.relay.call("POST", "/v1/posts", {
    ...by,
    headers: { ...headers, "idempotency-key": post.idempotencyKey },
    body,
  });
}

function logIn(name: string, more: object = {}) {
  const { email, password } = named(old.known.users, name);
  return old.relay.call("POST", "/v1/auth/login", { body: { email, password, ...more } });
}

const failures = () =>
  old.relay.logLines.filter((line) => (JSON.parse(line) as { level: string }).level === "error");

describe("who comes back", () => {
  test.each(["owner", "unconfirmed", "changed", "small"])("%s signs in", async (name) => {
    const { token } = dataOf(await logIn(name));
    expect(outcomeOf(await get("/v1/me", { session: token }))).toBe("200");
  });

  test("with TOTP signs in by a code, and by a recovery code that was not used", async () => {
    const { totpSecret = "", ...user } = named(old.known.users, "totp");
    expect(outcomeOf(await logIn("totp"))).toBe("401 totp_required");
    const app = authenticatorOf(old.relay, totpSecret);
    expect(outcomeOf(await logIn("totp", { totpCode: app.code() }))).toBe("200");
    const [unused = ""] = user.recoveryCodes ?? [];
    expect(outcomeOf(await logIn("totp", { totpCode: unused }))).toBe("200");
    const used = { totpCode: user.usedRecoveryCode };
    expect(outcomeOf(await logIn("totp", used))).toBe("401 invalid_credentials");
  });

  test("with a password that was changed, or as somebody who was removed, does not", async () => {
    const { formerPassword } = named(old.known.users, "changed");
    const former = await logIn("changed", { password: formerPassword });
    expect(outcomeOf(former)).toBe("401 invalid_credentials");
    expect(outcomeOf(await logIn("removed"))).toBe("401 invalid_credentials");
    expect(outcomeOf(await logIn("suspended"))).toBe("403 platform_suspended");
  });

  test("after five failures still has to wait", async () => {
    const body = { email: "blocked@example.com", password: "whatever it is" };
    const answer = await old.relay.call("POST", "/v1/auth/login", { body });
    expect(outcomeOf(answer)).toBe("429 rate_limited");
  });

  test("is still signed in, for as long as the session lives", async () => {
    const me = dataOf(await get("/v1/me", session()));
    expect(me).toMatchObject({
      auth: { kind: "session" },
      id: named(old.known.platforms, "main"),
    });
    const over = { session: named(old.known.sessions, "expired") };
    expect(outcomeOf(await get("/v1/me", over))).toBe("401 session_expired");
  });
});

describe("keys", () => {
  test.each([
    ["admin", "200"],
    ["restricted", "200"],
    ["restrictedToNothing", "200"],
    ["expiring", "200"],
    ["bySession", "200"],
    ["byDeletedKey", "200"],
    ["renamed", "200"],
    ["ofToday", "200"],
    ["hooks", "200"],
    ["small", "200"],
    ["expired", "401 api_key_expired"],
    ["revoked", "401 api_key_revoked"],
    ["deleted", "401 invalid_credentials"],
    ["ofDisabledApplication", "403 application_disabled"],
    ["ofSuspendedPlatform", "403 platform_suspended"],
  ])("%s: %s", async (name, outcome) => {
    expect(outcomeOf(await get("/v1/profiles", key(name)))).toBe(outcome);
  });

  test("a restricted one acts on its profiles, and on another one by a grant", async () => {
    const list = (name: string, headers: Readonly<Record<string, string>> = {}) =>
      get("/v1/posts", {
        ...key("restricted"),
        headers: { "x-profile-id": profile(name), ...headers },
      }).then(outcomeOf);
    expect(await list("bakery")).toBe("200");
    expect(await list("florist")).toMatch(/^40[34] /);
    const grant = named(old.known.grants, "florist");
    expect(await list("florist", { "x-profile-grant": grant })).toBe("200");
  });

  test("are listed with their states, and revoked for good", async () => {
    const listed = dataOf(await get("/v1/keys?limit=100", key("admin")));
    const stateOf = (name: string) =>
      listed.find(({ id }: { id: string }) => id === named(old.known.keys, name).id);
    expect(stateOf("revoked")).toMatchObject({ status: "revoked" });
    expect(stateOf("expired")).toMatchObject({ status: "expired" });
    expect(stateOf("restricted")).toMatchObject({
      status: "active",
      scope: "restricted",
      allowedProfileIds: [profile("bakery")],
    });
    expect(stateOf("renamed")).toMatchObject({ name: "Another name" });
    const { id } = named(old.known.keys, "ofToday");
    const revoked = await old.relay.call("POST", `/v1/keys/${id}/revoke`, key("admin"));
    expect(outcomeOf(revoked)).toMatch(/^20/);
    expect(outcomeOf(await get("/v1/profiles", key("ofToday")))).toBe("401 api_key_revoked");
  });
});

describe("what is read", () => {
  test.each([
    ["first", "succeeded"],
    ["succeeded", "succeeded"],
    ["fired", "succeeded"],
    ["retried", "succeeded"],
    ["partial", "partial"],
    ["failedForGood", "failed"],
    ["failedForNow", "failed"],
    ["unknown", "failed"],
    ["refused", "failed"],
    ["unlinkedBeforeItsTime", "failed"],
    ["canceled", "canceled"],
    ["scheduledLater", "scheduled"],
    ["pending", "processing"],
    ["sentAndLost", "processing"],
  ])("post %s: %s", async (name, state) => {
    const { body } = named(old.known.posts, name);
    expect(await readPost(name)).toMatchObject({
      status: state,
      text: body["text"],
      externalId: `erp-${name}`,
      metadata: { campaign: name },
    });
  });

  test("legs, with what may be done about them", async () => {
    const legOf = async (name: string) => (await readPost(name)).legs[0];
    expect(await legOf("failedForNow")).toMatchObject({
      error: { code: "network_unavailable" },
      retryAvailable: true,
      tokensCharged: 0,
    });
    expect(await legOf("failedForGood")).toMatchObject({
      error: { code: "content_rejected" },
      retryAvailable: false,
    });
    expect(await legOf("unknown")).toMatchObject({
      error: { code: "outcome_unknown" },
      retryAvailable: true,
    });
    expect(await legOf("canceled")).toMatchObject({ status: "skipped" });
    expect(await legOf("succeeded")).toMatchObject({ status: "succeeded", tokensCharged: PRICE });
  });

  test("the lists of everything else", async () => {
    const list = async (path: string, options: Parameters<typeof get>[1]) =>
      dataOf(await get(`${path}?limit=100`, options));
    const profiles = await list("/v1/profiles", key("admin"));
    const states = Map.groupBy(profiles, (one: { status: string }) => one.status);
    expect([...states.keys()].toSorted()).toEqual(["active", "disabled", "erasing"]);
    expect(profiles).toContainEqual(
      expect.objectContaining({ title: "Bakery", externalId: "crm-Bakery" }),
    );
    const headers = { "x-profile-id": profile("bakery") };
    const posts = await list("/v1/posts", { ...key("admin"), headers });
    expect(posts.map(({ externalId }: { externalId: string }) => externalId)).toContain(
      "erp-succeeded",
    );
    expect(await list("/v1/users", session())).toHaveLength(4);
    expect(await list("/v1/applications", session())).toHaveLength(3);
    expect(await list("/v1/webhooks", key("hooks"))).toHaveLength(11);
    expect((await list("/v1/events", key("hooks"))).length).toBeGreaterThan(20);
    const platforms = await list("/v1/admin/platforms", { operator: ["Admin"] });
    expect(platforms).toHaveLength(3);
    const { id } = named(old.known.posts, "succeeded");
    const timeline = dataOf(await get(`/v1/posts/${id}/timeline`, { ...key("admin"), headers }));
    expect(JSON.stringify(timeline)).toContain("network_call");
  });

  test("connections, in all states", async () => {
    const statesOf = async (name: string) => {
      const path = `/v1/profiles/${profile(name)}/connections`;
      const listed = dataOf(await get(path, key("admin"))) as {
        platform: string;
        status: string;
      }[];
      return Object.fromEntries(listed.map((one) => [one.platform, one.status]));
    };
    expect(await statesOf("bakery")).toEqual(
      Object.fromEntries(ALL.map((network) => [network, "active"])),
    );
    expect(await statesOf("refused")).toEqual({ mastodon: "needs_reauth" });
    expect(Object.values(await statesOf("unlinked"))).not.toContain("active");
    expect(await statesOf("visited")).toEqual({ bluesky: "active" });
  });

  test("the same request under an old Idempotency-Key gets the old post", async () => {
    for (const name of ["first", "succeeded", "failedForGood", "canceled", "pending"]) {
      const post = named(old.known.posts, name);
      const answer = await submitAgain(post);
      expect([name, dataOf(answer).id]).toEqual([name, post.id]);
      const other = await submitAgain(post, { ...post.body, text: "Something else" });
      expect(outcomeOf(other)).toMatch(/^4\d\d idempotency_/);
    }
  });
});

describe("the connect page", () => {
  const browserWith = (cookie?: string) => {
    const browser = new Browser(old);
    browser.cookie = cookie;
    return browser;
  };

  test("opens, and links an account", async () => {
    const { id, url } = named(old.known.connectSessions, "open");
    const browser = browserWith();
    const page = await browser.get(url);
    expect(page.status).toBe(200);
    expect(readable(page.body)).toContain("Planner");
    const typed = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
    expect((await browser.submit(page, "bluesky", typed)).status).toBe(303);
    const made = dataOf(await get(`/v1/connect/sessions/${id}`, key("admin")));
    expect(made.connections).toMatchObject([{ platform: "bluesky", status: "active" }]);
  });

  test("is come back to from a network", async () => {
    const away = named(old.known.connectSessions, "atTheNetwork");
    await browserWith(away.cookie).get(away.callback ?? "");
    const made = dataOf(await get(`/v1/connect/sessions/${away.id}`, key("admin")));
    expect(made).toMatchObject({ status: "completed", connections: [{ platform: "mastodon" }] });
  });

  test("goes on with a choice between accounts", async () => {
    const choosing = named(old.known.connectSessions, "choosing");
    const browser = browserWith(choosing.cookie);
    const page = await browser.get(choosing.callback ?? "");
    const form = formsOf(page.body).find(({ fields }) => "choice" in fields);
    const [, candidate = ""] = /name="candidate"[^>]*value="([^"]+)"/.exec(page.body) ?? [];
    await browser.post(form?.action ?? "", { ...form?.fields, candidate });
    const made = dataOf(await get(`/v1/connect/sessions/${choosing.id}`, key("admin")));
    expect(made).toMatchObject({ status: "completed", connections: [{ platform: "facebook" }] });
  });

  test.each([
    ["completed", "completed"],
    ["canceled", "canceled"],
    ["expired", "expired"],
  ])("of a session that is %s says so", async (name, state) => {
    const { id, url } = named(old.known.connectSessions, name);
    expect((await browserWith().get(url)).status).not.toBe(200);
    const made = dataOf(await get(`/v1/connect/sessions/${id}`, key("admin")));
    expect(made.status).toBe(state);
  });
});

/** Whether the receiver can tell by each of these secrets who called. */
function isSigned({ headers, body }: Received, secrets: readonly string[]): boolean {
  const [id, at] = [headers["webhook-id"], headers["webhook-timestamp"]].map(String);
  const signed = String(headers["webhook-signature"]).split(" ");
  return secrets.every((secret) => {
    const bytes = Buffer.from(secret.slice("whsec_".length), "base64");
    const digest = createHmac("sha256", bytes).update(`${id}.${at}.${body}`).digest("base64");
    return signed.includes(`v1,${digest}`);
  });
}

describe("as time goes on", () => {
  beforeAll(async () => {
    // One receiver is down at first.
    old.receiver.behave(named(old.known.webhooks, "openCircuit").path, status(500));
    await old.pass(3);
    old.receiver.behave(named(old.known.webhooks, "openCircuit").path, (answer) => {
      answer.end("well");
    });
    await old.pass(9);
    await old.pass(60, 5);
  }, 120_000);

  test.each([
    "markedAndUnsent",
    "claimed",
    "waitingForRetry",
    "polling",
    "inLine",
    "pending",
    "pendingAlone",
    "resending",
    "missed",
    "scheduledSoon",
    "scheduledNext",
  ])("post %s is published, once at each network", async (name) => {
    const post = await readPost(name);
    expect(post).toMatchObject({ status: "succeeded" });
    const networks = visible(name).map(({ network }) => network);
    const wanted = post.legs.map(({ platform }: { platform: string }) => platform);
    expect(networks.toSorted()).toEqual(wanted.toSorted());
    for (const leg of post.legs) expect(leg).toMatchObject({ tokensCharged: PRICE });
  });

  test("post sentAndLost is out once at each network, and charged where that can be known", async () => {
    const post = await readPost("sentAndLost");
    expect(post.status).toBe("partial");
    const networks = visible("sentAndLost").map(({ network }) => network);
    expect(networks.toSorted()).toEqual(ALL.toSorted());
    // A member's post with a file is in no list, and is not sent again on LinkedIn's word.
    for (const leg of post.legs)
      expect([leg.platform, leg.error?.code ?? leg.status, leg.tokensCharged]).toEqual(
        leg.platform === "linkedin"
          ? ["linkedin", "outcome_unknown", 0]
          : [leg.platform, "succeeded", PRICE],
      );
  });

  test("a post that was moved goes out with its new text", async () => {
    expect(await readPost("moved")).toMatchObject({
      status: "succeeded",
      text: "Moved and said otherwise",
    });
  });

  test("what is scheduled for later waits, and can be canceled", async () => {
    expect(await readPost("scheduledLater")).toMatchObject({ status: "scheduled" });
    const post = named(old.known.posts, "scheduledLater");
    dataOf(await old.relay.call("DELETE", `/v1/posts/${post.id}`, ofPost(post)));
    expect(await readPost("scheduledLater")).toMatchObject({ status: "canceled" });
  });

  test.each(["failedForNow", "unknown"])("post %s is retried", async (name) => {
    const post = named(old.known.posts, name);
    dataOf(await old.relay.call("POST", `/v1/posts/${post.id}/retry`, ofPost(post)));
    await old.pass(5);
    expect(await readPost(name)).toMatchObject({ status: "succeeded" });
    expect(visible(name)).toHaveLength(1);
  });

  test.each(["queued", "rotating", "held", "flaky", "openCircuit", "closedCircuit"])(
    "webhook %s gets what it is owed, signed with the old secrets",
    async (name) => {
      const { id, path, secrets } = named(old.known.webhooks, name);
      const calls = old.receiver.received(path);
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) expect(isSigned(call, secrets)).toBe(true);
      const pending = await get(`/v1/webhooks/${id}/deliveries?status=pending`, key("hooks"));
      expect(dataOf(pending)).toEqual([]);
    },
  );

  test("a dead delivery is sent once more", async () => {
    const { id, path, secrets } = named(old.known.webhooks, "dead");
    const deliveries = `/v1/webhooks/${id}/deliveries`;
    const [dead] = dataOf(await get(`${deliveries}?status=dead`, key("hooks")));
    dataOf(await old.relay.call("POST", `${deliveries}/${dead.id}/redrive`, key("hooks")));
    await old.pass(1);
    const [call] = old.receiver.received(path);
    expect(call?.headers["webhook-id"]).toBe(dead.eventId);
    expect(call !== undefined && isSigned(call, secrets)).toBe(true);
    const all = { operator: ["Admin"], body: {} };
    const redriven = await old.relay.call("POST", "/v1/admin/webhooks/redrive-dead", all);
    expect(dataOf(redriven).scanned).toBeGreaterThan(0);
  });

  test("profiles that were being erased are gone", async () => {
    for (const name of ["removing", "clearing", "closing"]) {
      const answer = await get(`/v1/profiles/${profile(name)}`, key("admin"));
      expect([name, answer.status]).toEqual([name, 404]);
    }
    const rows = await storedRows(old.relay);
    expect(rows.filter(({ table }) => table === "erasures")).toEqual([]);
    expect(visible("erasedWhileOpen").length).toBeLessThanOrEqual(1);
  });

  test("old accounts publish something new, on all networks", async () => {
    const headers = { "x-profile-id": profile("bakery"), "idempotency-key": "a-new-key-of-today" };
    const { mediaUrls } = named(old.known.posts, "succeeded").body;
    const body = { text: "New bread from an old oven", platforms: ALL, mediaUrls };
    const by = { ...key("restricted"), headers };
    const { id } = dataOf(await old.relay.call("POST", "/v1/posts", { ...by, body }));
    await old.pass(5);
    expect(dataOf(await get(`/v1/posts/${id}`, by))).toMatchObject({ status: "succeeded" });
    const shown = old.sandbox.posts().filter(({ text }) => text.includes(body.text));
    expect(shown).toHaveLength(ALL.length);
  });

  test("everything that was to be told is told", async () => {
    await old.relay.runTimer("tell-forgotten-connections");
    await old.relay.runTimer("find-forgotten-work");
    await old.pass(1);
    const rows = await storedRows(old.relay);
    const isWaiting = ({ table, rowKey }: { table: string; rowKey: string }) =>
      table === "core" && rowKey.startsWith("E|");
    expect(rows.filter(isWaiting)).toEqual([]);
    expect(rows.filter(({ text }) => text.includes('"hasUntold":"yes"'))).toEqual([]);
    const events = dataOf(await get("/v1/events?limit=100", key("admin")));
    const { id } = named(old.known.posts, "sentAndLost");
    const told = events.filter(
      (event: { data: { post?: { id: string } } }) => event.data.post?.id === id,
    );
    expect(told.map(({ type }: { type: string }) => type)).toContain("post.partial");
  });

  test("an account is unlinked", async () => {
    const path = `/v1/profiles/${profile("oauth")}/connections`;
    const before = dataOf(await get(path, key("admin")));
    for (const { id } of before) await old.relay.call("DELETE", `${path}/${id}`, key("admin"));
    const after = dataOf(await get(path, key("admin"))) as { status: string }[];
    expect(after.map((one) => one.status)).toEqual(before.map(() => "revoked"));
  });

  test("wallets, ledgers and legs agree", async () => {
    const balance = dataOf(await get("/v1/billing/balance", session()));
    expect(balance).toMatchObject({ tokenReserved: 0 });
    const entries: { tokens: number; type: string; balanceAfter: number; postId: string }[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await get(`/v1/billing/usage?limit=100${after}`, session());
      entries.push(...body.data);
      cursor = body.page.nextCursor;
    } while (cursor !== null);
    expect(entries[0]?.balanceAfter).toBe(balance.tokenBalance);
    const owned = entries.filter(({ type }) => ["credit", "debit", "settle"].includes(type));
    expect(owned.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(balance.tokenBalance);
    const { id } = named(old.known.posts, "sentAndLost");
    const paid = entries.filter(({ postId, type }) => postId === id && type === "settle");
    // All but LinkedIn's, of which nobody can tell.
    expect(paid).toHaveLength(ALL.length - 1);
    await old.relay.runTimer("tell-forgotten-connections");
    await old.relay.runTimer("find-forgotten-work");
    await old.relay.runTimer("reconcile-wallets");
    expect(old.relay.logLines.join("\n")).not.toContain("wallet_mismatch");
  });

  test("messages that nobody could do are told of, and nothing else went wrong", () => {
    const lines = failures();
    const poisoned = lines.filter((line) => line.includes('"poison_message"'));
    expect(poisoned).toHaveLength(4);
    expect(lines.filter((line) => !poisoned.includes(line))).toEqual([]);
  });

  test("secrets are sealed anew, and what is too old is purged", async () => {
    old.relay.advance(DAY_MINUTES * MINUTE);
    await old.relay.runTimer("look-after-accounts");
    const sealed = async () =>
      (await storedRows(old.relay)).filter(
        ({ table, text }) => table !== "oauthstates" && text.includes("v1.first."),
      );
    expect(await sealed()).toEqual([]);
    old.relay.advance(100 * DAY_MINUTES * MINUTE);
    await old.relay.runTimer("purge-expired-rows");
    const rows = await storedRows(old.relay);
    const again = await submitAgain(named(old.known.posts, "first"));
    const left = (table: string, start: string) =>
      rows.filter((row) => row.table === table && row.rowKey.startsWith(start));
    // A key lives as long as its post.
    expect(dataOf(again).id).toBe(named(old.known.posts, "first").id);
    expect(left("events", "")).toEqual([]);
    expect(left("dead", "")).toEqual([]);
    expect(left("connectsessions", "")).toEqual([]);
    expect(await readPost("first")).toMatchObject({ status: "succeeded" });
    expect(failures().filter((line) => line.includes("purge_failed"))).toEqual([]);
  });
});
