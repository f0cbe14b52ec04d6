import { describe, expect, test } from "vitest";
import { eventWrite, type EventType } from "../../src/shared/events/events.ts";
import { fanOutEvents } from "../../src/shared/webhooks/events/fan-out-events.ts";
import type { ReadMail } from "../../sandbox/mailbox.ts";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { useMailedRelay, useRelay } from "../setup/use-relay.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Makes users who are verified, because it sends no mail. */
const plain = useRelay();
const mailed = useMailedRelay(() => ({ sameDeploymentAs: plain }));

type TestEvent = Parameters<typeof eventWrite>[0];

const nobody = { sequence: null, applicationId: null, profileId: null, postId: null };
const refused = (id: string) => ({
  ...nobody,
  type: "connection.needs_reauth" as EventType,
  profileId: `prf_${id}`,
  data: { connection: { id: `con_${id}`, platform: "mastodon" } },
});
const lost = (id: string) => ({
  ...nobody,
  type: "leg.failed" as EventType,
  postId: `pst_${id}`,
  profileId: `prf_${id}`,
  data: { leg: { platform: "bluesky", error: { code: "outcome_unknown" } } },
});

/** Writes events as the transactions that they report do. */
async function report(platformId: string, events: readonly TestEvent[]) {
  const { notices } = mailed.relay.services.background.mail.stores;
  const now = mailed.relay.clock.now();
  await notices.write(
    platformId,
    events.map((event) => eventWrite(event, now)),
  );
}

async function happen(platformId: string, ...events: readonly TestEvent[]) {
  await report(platformId, events);
  await fanOutEvents(mailed.relay.services.webhooks, { platformId });
}

/** Lets time pass, and has what is due sent. Returns the notices to an owner. */
async function after(ms: number, { email }: Pick<TestPlatform, "email">) {
  mailed.relay.advance(ms);
  await mailed.relay.drain();
  await mailed.relay.runTimer("send-mails");
  return (await mailed.mailsTo(email)).filter(({ headers }) =>
    headers.some((line) => line.startsWith("List-Unsubscribe:")),
  );
}

const offLinkOf = (headers: readonly string[]) =>
  new URL(
    /<(.*)>/.exec(headers.find((line) => line.startsWith("List-Unsubscribe:")) ?? "")?.[1] ?? "",
  );

describe("a notice", () => {
  test("comes a minute after what it tells of, and lists what happened meanwhile", async () => {
    const owner = await aPlatform(plain);
    await happen(owner.id, refused("one"));
    await happen(owner.id, refused("two"), lost("three"));
    expect(await after(30_000, owner)).toEqual([]);
    const mails = await after(31_000, owner);
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      "Posts ended with an unknown outcome",
      "Some accounts need to be linked again",
    ]);
    const [first] = mails.filter(({ subject }) => subject.startsWith("Some accounts"));
    for (const part of [first?.text, first?.html]) {
      expect(part).toContain("Mastodon, profile prf_one, account con_one");
      expect(part).toContain("con_two");
    }
    expect(await after(2 * HOUR, owner)).toHaveLength(2);
  });

  test("names the first twenty, and counts the others", async () => {
    const owner = await aPlatform(plain);
    for (let from = 0; from < 50; from += 25)
      await happen(owner.id, ...Array.from({ length: 25 }, (_, at) => refused(`n${from + at}`)));
    const [mail, ...others] = await after(MINUTE, owner);
    expect(others).toEqual([]);
    expect(mail?.text).toContain("con_n0");
    expect(mail?.text.match(/con_n/g)).toHaveLength(20);
    expect(mail?.text).toContain("And 30 more.");
  });

  test("comes once an hour, and ten times a day: what waits is told then", async () => {
    const owner = await aPlatform(plain);
    await happen(owner.id, refused("first"));
    expect(await after(MINUTE, owner)).toHaveLength(1);
    await happen(owner.id, refused("second"));
    expect(await after(58 * MINUTE, owner)).toHaveLength(1);
    expect((await after(2 * MINUTE, owner)).at(-1)?.text).toContain("con_second");
    for (let nth = 3; nth <= 10; nth += 1) {
      await happen(owner.id, refused(`nth-${nth}`));
      expect(await after(HOUR, owner)).toHaveLength(nth);
    }
    await happen(owner.id, refused("late"));
    await happen(owner.id, refused("later"));
    expect(await after(2 * HOUR, owner)).toHaveLength(10);
    const [last] = (await after(13 * HOUR, owner)).slice(10);
    expect(last?.text).toContain("con_late");
    expect(last?.text).toContain("con_later");
  });

  test("a notice is found by the hourly look where its mark is gone", async () => {
    const owner = await aPlatform(plain);
    await happen(owner.id, refused("forgotten"));
    const { wakes } = mailed.relay.services.background.mail;
    const to = new Date(mailed.relay.clock.now().getTime() + HOUR).toISOString();
    const { wakes: marks } = await wakes.list("mail", { to }, undefined);
    for (const mark of marks) await wakes.removeIfUnchanged(mark);
    expect(await after(HOUR, owner)).toEqual([]);
    await mailed.relay.runTimer("find-forgotten-work");
    expect(await after(MINUTE, owner)).toHaveLength(1);
  });

  test("a notice is in the language of each owner, and for verified owners alone", async () => {
    const owner = await aPlatform(plain);
    const make = async (role: string, locale: string) => {
      const email = `${role}-${locale}-${owner.userId.slice(-6)}@example.com`;
      const body = { email, password: "granite pelican 9 ribbons", role, locale };
      dataOf(await plain.call("POST", "/v1/users", { session: owner.session, body }));
      return { email };
    };
    const [german, member] = [await make("owner", "de"), await make("member", "en")];
    await happen(owner.id, refused("one"));
    expect(await after(MINUTE, owner)).toHaveLength(1);
    expect(await after(0, german)).toMatchObject([
      { subject: "Verknüpfte Konten brauchen ihre Inhaber" },
    ]);
    expect(await after(0, member)).toEqual([]);
  });
});

describe("switching notices off", () => {
  const change = (owner: TestPlatform, body: object) =>
    mailed.relay.call("PATCH", "/v1/platform/notices", { session: owner.session, body });
  const read = async (owner: TestPlatform) =>
    dataOf(await mailed.relay.call("GET", "/v1/platform/notices", { session: owner.session }));
  const ALL = {
    connectionNeedsReauth: true,
    endpointDisabled: true,
    balanceLow: true,
    outcomeUnknown: true,
  };

  test("switching notices off is done for each kind, and drops what waits", async () => {
    const owner = await aPlatform(plain);
    expect(await read(owner)).toEqual(ALL);
    await happen(owner.id, refused("waits"), lost("waits"));
    const off = { ...ALL, connectionNeedsReauth: false };
    expect(dataOf(await change(owner, { connectionNeedsReauth: false }))).toEqual(off);
    await happen(owner.id, refused("later"));
    expect(await after(MINUTE, owner)).toHaveLength(1);
    expect(dataOf(await change(owner, {}))).toEqual(off);
    expect(dataOf(await change(owner, { connectionNeedsReauth: true }))).toEqual(ALL);
    await happen(owner.id, refused("again"));
    const [, mail] = await after(MINUTE, owner);
    expect(mail?.text).toContain("con_again");
    expect(mail?.text).not.toContain("con_later");
  });

  test("takes booleans alone", async () => {
    const owner = await aPlatform(plain);
    for (const body of [{ balanceLow: "no" }, { passwordChanged: false }])
      expect(outcomeOf(await change(owner, body))).toBe("400 validation_failed");
  });

  test("switching notices off is done by the button of a mail program, and not by opening the link", async () => {
    const owner = await aPlatform(plain);
    await happen(owner.id, refused("one"));
    const [mail] = await after(MINUTE, owner);
    expect(mail?.headers).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    const link = offLinkOf(mail?.headers ?? []);
    expect(mail?.links).toContain(link.href);
    const path = `/v1/auth/notices/off${link.search}`;
    const page = await mailed.relay.call("GET", path);
    expect(page.status).toBe(200);
    expect(page.body).toContain("Emails about accounts");
    expect(await read(owner)).toEqual(ALL);
    const boundary =
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--';
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    for (let times = 0; times < 2; times += 1) {
      const done = await mailed.relay.call("POST", path, { headers, rawBody: boundary });
      expect(done.status).toBe(200);
      expect(await read(owner)).toEqual({ ...ALL, connectionNeedsReauth: false });
    }
    const damaged = path.replace("connectionNeedsReauth", "outcomeUnknown");
    for (const wrong of [
      damaged,
      `${path}x`,
      "/v1/auth/notices/off?token=a.b.c.d",
      "/v1/auth/notices/off",
    ])
      for (const method of ["GET", "POST"])
        expect((await mailed.relay.call(method, wrong)).status).toBe(400);
    expect(await read(owner)).toEqual({ ...ALL, connectionNeedsReauth: false });
  });

  test("the link that switches a notice off ends after 60 days", async () => {
    const owner = await aPlatform(plain);
    await happen(owner.id, refused("one"));
    const [mail] = await after(MINUTE, owner);
    const path = `/v1/auth/notices/off${offLinkOf(mail?.headers ?? []).search}`;
    mailed.relay.advance(59 * 24 * 60 * MINUTE);
    expect((await mailed.relay.call("GET", path)).status).toBe(200);
    mailed.relay.advance(24 * 60 * MINUTE);
    for (const method of ["GET", "POST"])
      expect((await mailed.relay.call(method, path)).status).toBe(400);
  });

  test("switching notices off is not done by the link of one who is no owner any more", async () => {
    const owner = await aPlatform(plain);
    const email = `second-${owner.userId.slice(-6)}@example.com`;
    const body = { email, password: PASSWORD, role: "owner" };
    const call = { session: owner.session, body };
    const { id } = dataOf(await plain.call("POST", "/v1/users", call));
    await happen(owner.id, refused("one"));
    const [mail] = await after(MINUTE, { email });
    const demote = { session: owner.session, body: { role: "member" } };
    dataOf(await plain.call("PATCH", `/v1/users/${id}`, demote));
    const { search } = offLinkOf(mail?.headers ?? []);
    expect((await mailed.relay.call("POST", `/v1/auth/notices/off${search}`)).status).toBe(400);
    expect(await read(owner)).toEqual(ALL);
  });
});

describe("a process that dies", () => {
  const FAULTS = ["lose_request", "lose_answer", "unavailable"] as const;
  const WRITES_MAX = 8;
  const cases = FAULTS.flatMap((fault) =>
    Array.from({ length: WRITES_MAX }, (_, at) => [fault, at + 1] as const),
  );

  test.each(cases)("%s at write %d loses no notice and doubles none", async (fault, nth) => {
    const owner = await aPlatform(plain);
    let countdown = 0;
    const dying = await startRelay({
      sameDeploymentAs: mailed.relay,
      tableFault({ method }) {
        if (method === "GET" || countdown === 0) return "pass";
        countdown -= 1;
        return countdown === 0 ? fault : "pass";
      },
    });
    await report(owner.id, [refused("one"), refused("two")]);
    countdown = nth;
    const ignored = () => undefined;
    await fanOutEvents(dying.services.webhooks, { platformId: owner.id }).catch(ignored);
    mailed.relay.advance(MINUTE);
    await dying.runTimer("send-mails").catch(ignored);
    countdown = 0;
    await fanOutEvents(mailed.relay.services.webhooks, { platformId: owner.id });
    await after(2 * MINUTE, owner);
    const mails = await after(3 * HOUR, owner);
    // A mail that was taken, and whose row could not be removed, is sent once more as the same mail.
    const idOf = ({ headers }: ReadMail) => headers.find((line) => line.startsWith("Message-ID:"));
    const distinct = [...new Map(mails.map((mail) => [idOf(mail), mail])).values()];
    const told = distinct.flatMap(({ text }) => text.match(/con_\w+/g) ?? []);
    expect(told.toSorted()).toEqual(["con_one", "con_two"]);
    await dying.stop();
  });

  test("two processes that fan out at one time tell of each event once", async () => {
    const owner = await aPlatform(plain);
    const other = mailed.relay.another();
    for (let round = 0; round < 5; round += 1) {
      await report(owner.id, [refused(`a${round}`), refused(`b${round}`)]);
      await Promise.all([
        fanOutEvents(mailed.relay.services.webhooks, { platformId: owner.id }),
        fanOutEvents(other.webhooks, { platformId: owner.id }),
      ]);
    }
    const [mail] = await after(MINUTE, owner);
    expect(mail?.text.match(/con_\w+/g)).toHaveLength(10);
  });
});
