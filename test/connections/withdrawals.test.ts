import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { DEMO_FACEBOOK_APP } from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { aLinkedAccount } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { purgeExpired, runWalks } from "../setup/walks.ts";
import { aLinkedOwner, DAY_MS, openWholeWorld } from "../background/accounts.ts";
import { readable } from "./browser.ts";
import { anOwner, anotherProfile, type Owner } from "./world.ts";
import { connectionOf, credentialsOf, saveLinked } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

const DEAUTHORIZE = "/v1/connect/meta/deauthorize";
const DELETE = "/v1/connect/meta/delete";
const BASE_PATH = "/v1/connect/meta/deletion/";
const DAY_SECONDS = 24 * 3_600;

let person: string;
let counter = 0;

const world = forFile(() => openWholeWorld());
beforeEach(() => {
  counter += 1;
  person = `77000${counter}`;
});

interface Signed {
  readonly userId?: string;
  /** The id stands there as a number, of which JavaScript would make another one. */
  readonly isNumber?: boolean;
  readonly secret?: string;
  readonly ageSeconds?: number;
  readonly algorithm?: string;
}

/** What Meta sends. */
function signed({
  userId = person,
  isNumber = false,
  secret = DEMO_FACEBOOK_APP.secret,
  ageSeconds = 0,
  algorithm = "HMAC-SHA256",
}: Signed = {}): string {
  const issued_at = Math.floor(world.relay.clock.now().getTime() / 1000) - ageSeconds;
  const text = JSON.stringify({ user_id: userId, algorithm, issued_at });
  const written = isNumber ? text.replace(`"${userId}"`, userId) : text;
  const payload = Buffer.from(written).toString("base64url");
  return `${createHmac("sha256", secret).update(payload).digest("base64url")}.${payload}`;
}

function send(path: string, request: string) {
  return world.relay.call("POST", path, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    rawBody: new URLSearchParams({ signed_request: request }).toString(),
  });
}

async function link(
  owner: Owner,
  { grantId = person, account = `page-${owner.profileId}` } = {},
): Promise<void> {
  const linked = aLinkedAccount(account, { grantId, credentials: { token: "t" } });
  await saveLinked(world.services, owner, "facebook", linked);
}

/** What the log says of the check that refused the latest request. */
function failedCheck(): unknown {
  const line = world.relay.logLines.findLast((one) => one.includes('"message":"request"'));
  return (JSON.parse(line ?? "{}") as { failedCheck?: unknown }).failedCheck;
}

async function statusOf(owner: Owner, network: NetworkName = "facebook"): Promise<string> {
  return (await connectionOf(world.services, owner, network)).status;
}

/** Types and reasons of what the owner's application is told. */
async function told({ key, profileId }: Owner): Promise<unknown[]> {
  await world.relay.drain();
  world.relay.advance(16_000);
  const { body } = await world.relay.call("GET", "/v1/events?limit=100", { key });
  const events = body.data as { type: string; profileId: string; data: { reason?: string } }[];
  return events
    .filter((event) => event.profileId === profileId)
    .map(({ type, data }) => [type, data.reason]);
}

describe("a person who removed the app at Meta", () => {
  test("loses every connection, no matter whose it is, with its tokens; everybody else keeps theirs", async () => {
    const owner = await anOwner(world);
    const sibling = await anotherProfile(world, owner);
    const [stranger, bystander] = [await anOwner(world), await anOwner(world)];
    await Promise.all([owner, sibling, stranger].map((one) => link(one)));
    await link(bystander, { grantId: `${person}1` });

    const answer = await send(DEAUTHORIZE, signed());
    expect([answer.status, answer.body]).toEqual([200, {}]);
    for (const one of [owner, sibling, stranger]) {
      expect(await statusOf(one)).toBe("revoked");
      const opened = await credentialsOf(world.services, one, "facebook");
      expect(opened).toBeUndefined();
      expect(await told(one)).toEqual([
        ["connection.linked", undefined],
        ["connection.removed", "deauthorized_at_network"],
      ]);
    }
    expect(await statusOf(bystander)).toBe("active");
    expect(await told(bystander)).toEqual([["connection.linked", undefined]]);
  });

  test("a person who removed the app at Meta is named by Instagram as its app alone knows the account", async () => {
    const { owner, connection } = await aLinkedOwner(world, "instagram");
    const scoped = connection.grantId ?? "";
    expect(scoped).not.toBe(connection.account.id);
    await send(DEAUTHORIZE, signed({ userId: scoped, secret: DEMO_INSTAGRAM_APP.secret }));
    expect(await statusOf(owner, "instagram")).toBe("revoked");
  });

  test("a person who removed the app at Meta is found by an id that is a number longer than numbers are exact", async () => {
    const [owner, neighbor] = [await anOwner(world), await anOwner(world)];
    await link(owner, { grantId: "17841405793187219" });
    await link(neighbor, { grantId: "17841405793187220" });
    await send(DEAUTHORIZE, signed({ userId: "17841405793187219", isNumber: true }));
    expect(await statusOf(owner)).toBe("revoked");
    expect(await statusOf(neighbor)).toBe("active");
  });

  test("a person who removed the app at Meta may link again: the same notice ends nothing more, a new one does", async () => {
    const owner = await anOwner(world);
    await link(owner);
    const notice = signed();
    await send(DEAUTHORIZE, notice);
    await link(owner);
    world.relay.advance(60_000);
    expect((await send(DEAUTHORIZE, notice)).status).toBe(200);
    expect(await statusOf(owner)).toBe("active");
    await send(DEAUTHORIZE, signed());
    expect(await statusOf(owner)).toBe("revoked");
  });

  test("a person who removed the app at Meta may have linked more profiles than are looked at together", async () => {
    const owner = await anOwner(world);
    const others = Array.from({ length: 60 }, (_, index) => ({
      ...owner,
      profileId: `prf_${person}x${index}`,
    }));
    await Promise.all(others.map((one) => link(one)));
    expect((await send(DEAUTHORIZE, signed())).status).toBe(200);
    expect(new Set(await Promise.all(others.map((one) => statusOf(one))))).toEqual(
      new Set(["revoked"]),
    );
  });

  test("a person who removed the app at Meta is heard even when the process ends before it is done", async () => {
    const owner = await anOwner(world);
    await link(owner);
    const key = "a".repeat(34) + person.slice(-6);
    const of = { network: "facebook", grantId: person } as const;
    await world.services.connections.stores.withdrawals.open(key, of, world.relay.clock.now());
    const page = await world.relay.call("GET", BASE_PATH + key);
    expect(readable(page.body)).toContain("We have received your request");
    await runWalks(world.services, "finish-withdrawals");
    expect(await statusOf(owner)).toBe("revoked");
    const after = await world.relay.call("GET", BASE_PATH + key);
    expect(readable(after.body)).toContain("Your accounts are disconnected");
    expect(await world.services.connections.stores.withdrawals.find(key)).toMatchObject({
      grantId: "",
    });
  });
});

describe("a notice", () => {
  test.each<[string, () => string, string?]>([
    ["of nobody's", () => "x.y"],
    ["that is empty", () => ""],
    ["signed with another secret", () => signed({ secret: "0".repeat(32) })],
    [
      "signed for another person",
      () => {
        const [signature] = signed().split(".");
        return `${signature}.${signed({ userId: "1" }).split(".")[1]}`;
      },
    ],
    ["with something behind it", () => `${signed()}.x`],
    ["of another algorithm", () => signed({ algorithm: "none" }), "form"],
    ["about nobody", () => signed({ userId: "" }), "form"],
    ["of yesterday", () => signed({ ageSeconds: DAY_SECONDS + 60 }), "issued at"],
    ["of tomorrow", () => signed({ ageSeconds: -DAY_SECONDS }), "issued at"],
    ["that never ends", () => "x".repeat(5_000), "length"],
  ])("%s is refused, and changes nothing", async (_what, request, check = "signature") => {
    const owner = await anOwner(world);
    await link(owner);
    for (const path of [DEAUTHORIZE, DELETE]) {
      const { status, body } = await send(path, request());
      expect([status, body.error.code]).toEqual([400, "validation_failed"]);
      expect(body.error.details.issues).toMatchObject([{ path: "signed_request" }]);
      // The schema refuses what is too long before anything is checked, and says so in the answer.
      if (check !== "length") expect(failedCheck()).toMatchObject({ check });
      if (check === "signature")
        for (const { id } of [DEMO_FACEBOOK_APP, DEMO_INSTAGRAM_APP])
          expect(failedCheck()).toMatchObject({ expected: expect.stringContaining(id) });
    }
    expect(await statusOf(owner)).toBe("active");
  });

  test("a notice of a day's age still counts", async () => {
    const owner = await anOwner(world);
    await link(owner);
    await send(DEAUTHORIZE, signed({ ageSeconds: DAY_SECONDS - 60 }));
    expect(await statusOf(owner)).toBe("revoked");
  });

  test("a notice is refused where there is no app, and limited by address as signing in is", async () => {
    const bare = await startRelay({ settings: { AUTH_RATE_PER_MINUTE: "3" } });
    try {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const rawBody = new URLSearchParams({ signed_request: signed() }).toString();
      const statuses: number[] = [];
      for (let call = 0; call < 4; call += 1)
        statuses.push((await bare.call("POST", DELETE, { headers, rawBody })).status);
      expect(statuses).toEqual([400, 400, 400, 429]);
    } finally {
      await bare.stop();
    }
  });
});

describe("a request for deletion", () => {
  test("answers a known and an unknown person alike, with an address that says no more than how far it is", async () => {
    const owner = await anOwner(world);
    await link(owner);
    const request = signed();
    const answers = [await send(DELETE, request), await send(DELETE, signed({ userId: "999" }))];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(["url", "confirmation_code"]);
      expect(body.confirmation_code).toMatch(/^[0-9a-f]{40}$/);
      expect(body.url).toBe(`http://localhost:7071/api${BASE_PATH}${body.confirmation_code}`);
      const page = await world.relay.call("GET", BASE_PATH + body.confirmation_code);
      expect(page.status).toBe(200);
      expect(readable(page.body)).toContain("Your accounts are disconnected");
      expect(page.body).not.toContain(person);
      expect(page.body).not.toContain(owner.profileId);
    }
    expect(await statusOf(owner)).toBe("revoked");
    expect((await send(DELETE, request)).body).toEqual(answers[0]?.body);
    expect(answers[0]?.body.confirmation_code).not.toBe(answers[1]?.body.confirmation_code);
  });

  test("a request for deletion can be looked up for 90 days, and is purged then", async () => {
    const { body } = await send(DELETE, signed());
    const look = async () =>
      (await world.relay.call("GET", BASE_PATH + body.confirmation_code)).status;
    world.relay.advance(89.9 * DAY_MS);
    await purgeExpired(world.services);
    expect(await look()).toBe(200);
    world.relay.advance(0.2 * DAY_MS);
    await purgeExpired(world.services);
    expect(await look()).toBe(404);
  });

  test.each(["x", "../../health", "a".repeat(40), "%00"])("code %s is unknown", async (code) => {
    const { status } = await world.relay.call("GET", BASE_PATH + encodeURIComponent(code));
    expect(status).toBe(404);
  });
});
