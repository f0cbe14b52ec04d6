import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_LONG } from "../../setup/long-check.ts";
import {
  aCustomer,
  endedPost,
  ledgerOf,
  legOf,
  linkMastodonBy,
  publish,
} from "../../process/relay/customer.ts";
import type { Customer } from "../../process/relay/customer.ts";
import { startInterceptor } from "../../process/relay/interceptor.ts";
import type { Interceptor } from "../../process/relay/interceptor.ts";
import { dataOf, startRelayProcess } from "../../process/relay/relay-process.ts";
import type { RelayProcess } from "../../process/relay/relay-process.ts";
import { startWorld } from "../../process/relay/world.ts";
import type { World } from "../../process/relay/world.ts";
import { hasSnac, startSnac } from "./snac.ts";
import type { Snac } from "./snac.ts";

const HOST = "snac.sandbox.test";
const picture = (name: string) => `https://media.sandbox.test/${name}`;

let snac: Snac;
/** In front of the server: loses what it is told to lose. */
let wire: Interceptor;
let world: World;
let relay: RelayProcess;
let customer: Customer;

beforeAll(async () => {
  if (!hasSnac) return;
  snac = await startSnac(HOST);
  wire = await startInterceptor(snac.url);
  world = await startWorld({ [HOST]: wire.url });
  relay = await startRelayProcess({ settings: world.settings });
  customer = await aCustomer(relay, world);
  await linkMastodonBy(relay, customer, HOST, async (visitor, leadsTo) => {
    const page = await (await fetch(leadsTo)).text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1];
    const form = {
      login: snac.user,
      passwd: snac.password,
      redir: field("redir") ?? "",
      cid: field("cid") ?? "",
      state: field("state") ?? "",
    };
    const signedIn = await fetch(`${wire.url}/oauth/x-snac-login`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(form),
    });
    return await visitor.comeBack(signedIn.headers.get("location") ?? "");
  });
}, 120_000);

afterAll(async () => {
  await Promise.all([relay?.stop(), world?.stop(), wire?.stop(), snac?.stop()]);
});

interface Form {
  readonly text: string;
  readonly mediaUrls?: readonly string[];
  readonly visibility?: string;
}

/** Publishes with one key twice, and returns the leg once it has ended. */
async function legOfRepeated({ visibility, ...body }: Form, key: string) {
  const platformOptions = visibility === undefined ? {} : { mastodon: { visibility } };
  const request = { ...body, platforms: ["mastodon"], platformOptions };
  const accepted = await publish(relay, customer, request, key);
  expect(accepted.status).toBe(202);
  const { id } = accepted.body.data;
  expect((await publish(relay, customer, request, key)).body.data.id).toBe(id);
  return legOf(await endedPost(relay, customer, id), "mastodon");
}

const FORMS: readonly (readonly [string, Omit<Form, "text">])[] = [
  ["text", {}],
  ["markdown", {}],
  ["one image", { mediaUrls: [picture("photo.jpg")] }],
  ["two images", { mediaUrls: [picture("photo.jpg"), picture("portrait.jpg")] }],
  ["private", { visibility: "private" }],
  ["direct", { visibility: "direct" }],
];
const keyOf = (name: string) => `snac-${name.replaceAll(" ", "-")}`;
const textOf = (name: string) =>
  name.startsWith("markdown") ? `Fresh ${name} **bread** and _rolls_` : `Fresh ${name}`;

/** Needs Debian's `snac2` or `SNAC_BIN`; `.ci/run` installs or fetches it where it can. */
describe.skipIf(!hasSnac)(
  "a real small server that speaks Mastodon's API and keeps no keys",
  () => {
    test("a real small server that speaks Mastodon's API and keeps no keys has the account linked over its own login page", async () => {
      const path = `/v1/profiles/${customer.profileId}/connections`;
      const [connection] = dataOf(await relay.call("GET", path, { bearer: customer.key }));
      expect(connection).toMatchObject({
        platform: "mastodon",
        status: "active",
        account: { username: `${snac.user}@${HOST}` },
        instanceUrl: `https://${HOST}`,
      });
    });

    test.each(FORMS)("shows a post once, however often it is asked for: %s", async (name, form) => {
      const text = textOf(name);
      const leg = await legOfRepeated({ text, ...form }, keyOf(name));
      expect(leg).toMatchObject({ status: "succeeded", tokensCharged: 10 });
      const posts = await snac.postsWith(`Fresh ${name}`);
      expect(posts).toHaveLength(1);
      expect(posts[0]?.isPublic).toBe(form.visibility === undefined);
      expect(new Set(posts[0]?.files).size).toBe(form.mediaUrls?.length ?? 0);
    });

    // Its lists show public posts alone: what became of another nobody can find out.
    const cases = FORMS.flatMap(([name, form]) => [
      { name, form, fault: "lose_answer" as const, isQuick: form.visibility === undefined },
      { name, form, fault: "lose_request" as const, isQuick: false },
    ]);
    // Half a minute each: that a post is not there is believed only once it would be.
    const troubles = cases.filter(({ isQuick }) => isQuick || IS_LONG);
    test.each(troubles)(
      "a real small server without keys never shows a post twice: $name, $fault",
      async ({ name, form, fault }) => {
        const words = `${name} after ${fault}`;
        const sprung = wire.next("statuses", fault, "POST");
        const leg = await legOfRepeated({ text: textOf(words), ...form }, keyOf(words));
        await sprung;
        const isListed = form.visibility === undefined;
        const end = isListed ? null : { code: "outcome_unknown" };
        expect(leg).toMatchObject({
          status: isListed ? "succeeded" : "failed",
          error: end,
          tokensCharged: isListed ? 10 : 0,
        });
        const isThere = isListed || fault === "lose_answer";
        expect(await snac.postsWith(`Fresh ${words}`)).toHaveLength(isThere ? 1 : 0);
      },
      60_000,
    );

    test("a real small server that speaks Mastodon's API and keeps no keys is paid for once for each post that is there", async () => {
      const entries = await ledgerOf(relay, customer);
      const paid = entries.filter(({ type, tokens }) => type === "settle" && tokens < 0);
      const posts = await snac.postsWith("Fresh ");
      const isUnpaid = ({ content, isPublic }: { content: string; isPublic: boolean }) =>
        !isPublic && content.includes("after");
      expect(paid.length).toBe(posts.filter((post) => !isUnpaid(post)).length);
      expect(new Set(paid.map(({ postId }) => postId)).size).toBe(paid.length);
    });
  },
);
