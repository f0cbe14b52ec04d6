import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { DEMO_LINKEDIN_APP, DEMO_LINKEDIN_ORG_APP } from "../../dev/networks/linkedin/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { AuthorKind } from "../../src/shared/networks/linkedin/state.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type {
  LinkChoice,
  LinkedAccount,
  LinkOutcome,
} from "../../src/shared/networks/contract/link.ts";
import type { Network } from "../../src/shared/networks/contract/network.ts";
import { opened } from "./scripted-tools.ts";
import { type SandboxTools, publishedBy, resumeLeg, walkLeg } from "./sandbox-leg.ts";
import { decideAt } from "./sandbox-links.ts";
import { file, useSandboxTools } from "./use-sandbox-tools.ts";

const APP = { ...DEMO_LINKEDIN_APP, version: "202609", organizations: DEMO_LINKEDIN_ORG_APP };

let sandbox: Sandbox;
let tools: SandboxTools;

useSandboxTools((fresh) => {
  ({ sandbox, tools } = fresh);
}, APP);

async function visit(kind: AuthorKind, decision = "allow"): Promise<LinkOutcome | LinkChoice> {
  const codeVerifier = "verifier".repeat(8);
  const redirectUri = "https://relay.example/v1/connect/callback/linkedin";
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const oauth = { redirectUri, state: "state-1", codeChallenge };
  const started = await linkedin.link.start({ kind }, oauth, tools);
  if (started.kind === "failed") throw new Error(`not started: ${JSON.stringify(started)}`);
  const back = await decideAt(started.url, tools, { decision });
  const params = Object.fromEntries(back.searchParams);
  expect(params["state"]).toBe("state-1");
  return linkedin.link.finish({ params, codeVerifier, redirectUri, flow: started.flow }, tools);
}

async function linkAs(kind: AuthorKind): Promise<LinkedAccount> {
  const outcome = await visit(kind);
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return outcome.linked;
}

/** As the relay walks a leg: what there is to be known before a repeat, `prepare` notes. */
const asWalked: Network = {
  ...linkedin,
  async publish(leg, given) {
    const prepared = await linkedin.prepare(leg, given);
    if (prepared.kind !== "ready") throw new Error(`not ready: ${prepared.kind}`);
    return linkedin.publish({ ...leg, remote: prepared.remote }, given);
  },
};

describe("linking at LinkedIn in the sandbox", () => {
  test("makes a member's account", async () => {
    const { account, scopes, expiresAt } = await linkAs("member");
    expect(account).toMatchObject({ displayName: "Dana Demo", kind: "member" });
    expect(scopes).toContain("w_member_social");
    expect(Date.parse(expiresAt ?? "")).toBeGreaterThan(Date.now() + 59 * 86_400_000);
  });

  test("makes an organisation's account, of the chosen one", async () => {
    expect((await linkAs("organization")).account).toMatchObject({ kind: "organization" });
    const added = sandbox.networks.linkedin.addOrganization({ name: "Demo Wholesale" });
    sandbox.networks.linkedin.addOrganization({ name: "Only watched", role: "ANALYST" });
    const offered = await visit("organization");
    if (offered.kind !== "choose") throw new Error(`no choice: ${offered.kind}`);
    expect(offered.candidates).toHaveLength(2);
    const chosen = await linkedin.link.choose(added.id, offered.flow);
    expect(chosen).toMatchObject({
      linked: { account: { displayName: "Demo Wholesale", username: "demo-wholesale" } },
    });
  });

  test.each(["deny", "no_login"])("tells that the user went back (%s)", async (decision) => {
    expect(await visit("member", decision)).toMatchObject({ code: "access_denied" });
  });

  test("tells that there is no page to choose", async () => {
    for (const { id } of sandbox.networks.linkedin.organizations)
      sandbox.networks.linkedin.loseRole(id);
    expect(await visit("organization")).toMatchObject({ code: "nothing_to_choose" });
  });
});

describe.each(["member", "organization"] as const)("LinkedIn in the sandbox (%s)", (kind) => {
  test("publishes what was written, cut off nowhere", async () => {
    const linked = await linkAs(kind);
    const text =
      String.raw`Launch (beta) #AI a_b @x [1] {2} <3> *4* ~5~ a|b \ c` +
      "\n\nhttps://example.com/a_(b)?c=[d]#e #Über_uns";
    const walk = await walkLeg(linkedin, linked, { text }, tools);
    const { networkPostId, url } = publishedBy(walk);
    expect(walk.steps).toEqual(["prepare ready", "publish published"]);
    const [post] = sandbox.posts("linkedin");
    expect(post).toMatchObject({ id: networkPostId, text, edits: 0 });
    expect(post?.truncated ?? false).toBe(false);
    expect(url).toBe(`https://www.linkedin.com/feed/update/${networkPostId}/`);
    const links = post?.segments.filter(({ href }) => href !== undefined).map((part) => part.text);
    expect(links).toEqual(["#AI", "https://example.com/a_(b)?c=[d]#e", "#Über_uns"]);
  });

  test.each<[string, Partial<LegDraft>]>([
    ["a photo", { media: [file("photo.jpg", "A lake")] }],
    [
      "photos",
      {
        media: [file("photo.jpg", "A lake"), file("photo-2.jpg"), file("photo.png")],
      },
    ],
    ["a video", { media: [file("clip.mp4")] }],
    [
      "a photo that takes its time",
      { text: "[processing:2]", media: [file("photo.jpg", "A lake")] },
    ],
  ])("shows %s with their descriptions", async (_what, draft) => {
    const whole = { text: "Look", ...draft };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), whole, tools));
    const media = sandbox.posts("linkedin")[0]?.media ?? [];
    expect(media.map(({ alt }) => alt)).toEqual(draft.media?.map(({ altText }) => altText));
  });

  test("shows a video of several parts as it was sent", async () => {
    const clip = await readFile(new URL("../../dev/networks/media/clip.mp4", import.meta.url));
    const padding = Buffer.alloc(9 * 1024 * 1024);
    padding.writeUInt32BE(padding.length, 0);
    padding.write("free", 4, "latin1");
    const bytes = Buffer.concat([clip, padding]);
    const large: SandboxTools = {
      ...tools,
      openMedia: () =>
        Promise.resolve(opened({ bytes, contentType: "video/mp4", width: null, height: null })),
    };
    const draft = { text: "Look", media: [file("large.mp4")] };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), draft, large));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(sandbox.posts("linkedin")[0]?.media).toMatchObject([{ kind: "video", sha256 }]);
  });

  test("shows a document under its title", async () => {
    const bytes = Buffer.from("%PDF-1.7\n%%EOF\n");
    const pdf = { bytes, contentType: "application/pdf", width: null, height: null };
    const library: SandboxTools = { ...tools, openMedia: () => Promise.resolve(opened(pdf)) };
    const draft = {
      text: "Read",
      media: [file("report.pdf")],
      options: { documentTitle: "Annual report" },
    };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), draft, library));
    expect(sandbox.posts("linkedin")[0]?.media).toMatchObject([
      { kind: "document", title: "Annual report" },
    ]);
  });

  test("shows a link card with its picture", async () => {
    const link = {
      url: "https://links.sandbox.test/article",
      title: "The lake",
      description: "A walk",
      thumbnailUrl: file("card.jpg").url,
    };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), { options: { link } }, tools));
    expect(sandbox.posts("linkedin")[0]?.card).toMatchObject({
      url: link.url,
      title: link.title,
      description: link.description,
      imagePath: expect.stringContaining("/") as string,
    });
  });

  test.each(["[drop-before]", "[drop-answer]", "[error-after]", "[html-502]", "[hang]"])(
    "leaves one post after %s, or at most one and no claim",
    async (word) => {
      const linked = await linkAs(kind);
      for (const media of [[], [file("photo.jpg", "A lake")]]) {
        const draft = { text: `Trouble ${word} ${media.length}`, media };
        const walk = await walkLeg(linkedin, linked, draft, tools);
        const posts = sandbox.posts("linkedin").filter(({ text }) => text === draft.text);
        expect(walk.steps).toContain("publish in_doubt");
        if (kind === "member" && media.length > 0) {
          // Nobody can tell, and nothing is sent again.
          expect(walk.outcome.kind).toBe("unknowable");
          expect(posts).toHaveLength(word === "[drop-before]" || word === "[html-502]" ? 0 : 1);
          continue;
        }
        expect(posts).toMatchObject([{ id: publishedBy(walk).networkPostId }]);
      }
    },
  );

  test("leaves one post when it is walked twice from the same state, minutes apart", async () => {
    const draft = { text: "Twice", media: kind === "member" ? [] : [file("photo.jpg")] };
    const walk = await walkLeg(asWalked, await linkAs(kind), draft, tools);
    tools.advance(120);
    expect(publishedBy(await resumeLeg(asWalked, walk.leg, tools))).toEqual(publishedBy(walk));
    expect(sandbox.posts("linkedin")).toHaveLength(1);
  });

  test.each([
    "quota_exceeded",
    "connection_needs_reauth",
    "permission_missing",
    "duplicate_content",
    "text_too_long",
    "text_invalid",
    "media_rejected",
    "invalid_request",
  ])("tells a refusal as %s and publishes nothing", async (code) => {
    // An app without refresh tokens: there is nothing to renew.
    const { refreshToken: _none, ...credentials } = (await linkAs(kind)).credentials;
    const linked = { ...(await linkAs(kind)), credentials };
    const walk = await walkLeg(linkedin, linked, { text: `No [fail:${code}]` }, tools);
    expect(walk.outcome).toMatchObject({ kind: "rejected", failure: { code } });
    expect(sandbox.posts("linkedin")).toEqual([]);
  });

  test("tries again later where the network asks for it", async () => {
    const draft = { text: "Later [fail:rate_limited:2]" };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), draft, tools));
    expect(sandbox.posts("linkedin")).toHaveLength(1);
  });

  test("publishes after an outage, once", async () => {
    const draft = { text: "Later [fail:network_unavailable:1]" };
    publishedBy(await walkLeg(linkedin, await linkAs(kind), draft, tools));
    expect(sandbox.posts("linkedin")).toHaveLength(1);
  });

  test("asks for a reconnect when the member removed the app", async () => {
    const linked = await linkAs(kind);
    sandbox.networks.linkedin.revokeToken();
    const { outcome } = await walkLeg(linkedin, linked, { text: "Hello" }, tools);
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});

describe("LinkedIn in the sandbox", () => {
  test("tells its own post of minutes ago from a duplicate", async () => {
    const linked = await linkAs("member");
    publishedBy(await walkLeg(linkedin, linked, { text: "Same" }, tools));
    const again = await walkLeg(linkedin, linked, { text: "Same", options: {} }, tools);
    expect(again.outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "duplicate_content" },
    });
  });

  test("never repeats a member's post too late", async () => {
    const linked = await linkAs("member");
    const late: Network = {
      ...linkedin,
      reconcile(leg, given) {
        tools.advance(600);
        return linkedin.reconcile(leg, given);
      },
    };
    const walk = await walkLeg(late, linked, { text: "Late [drop-answer]" }, tools);
    expect(walk.outcome).toMatchObject({ kind: "unknowable" });
    expect(sandbox.posts("linkedin")).toHaveLength(1);
  });

  test("renews a token that ended before its time, where the app may", async () => {
    const linked = await linkAs("organization");
    expect(linked.credentials).toHaveProperty("refreshToken");
    const { accessToken } = linked.credentials as { accessToken: string };
    sandbox.networks.linkedin.revokeToken(accessToken);
    const walk = await walkLeg(linkedin, linked, { text: "Hello" }, tools);
    publishedBy(walk);
    expect(walk.steps).toEqual(["prepare ready", "publish try_later", "publish published"]);
  });

  test("is told that the version of the API has ended", async () => {
    const linked = await linkAs("member");
    const old = { ...tools, app: { ...APP, version: "202501" } };
    const { outcome } = await walkLeg(linkedin, linked, { text: "Hello" }, old);
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code: "app_misconfigured" } });
  });
});
