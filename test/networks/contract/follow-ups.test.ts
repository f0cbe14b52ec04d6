import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { FollowUp } from "../../../src/shared/networks/contract/visible-call.ts";
import { networkOf, type NetworkName } from "../../../src/shared/networks/networks.ts";
import { useSandbox } from "../../sandbox/client.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { unique } from "../../setup/publisher.ts";
import { followUpOf } from "../follow-ups.ts";
import { walkFollowUp } from "../follow-up-walk.ts";
import { publishedBy, type SandboxTools, walkLeg } from "../sandbox-leg.ts";
import { linkDemoAccount } from "../sandbox-links.ts";

interface Form {
  readonly network: NetworkName;
  readonly media?: readonly string[];
  readonly options?: object;
  /** What the end user types where the account is linked. */
  readonly as?: Readonly<Record<string, string>>;
  /** Nobody may list the comments: what became of one is never known. */
  readonly isUntold?: true;
}

const PHOTO = "https://media.sandbox.test/photo.jpg";
const FORMS: Readonly<Record<string, Form>> = {
  "facebook, a text": { network: "facebook" },
  "facebook, photos": { network: "facebook", media: [PHOTO, `${PHOTO}?2`] },
  "facebook, a reel": { network: "facebook", media: ["https://media.sandbox.test/clip.mp4"] },
  "instagram, an image": { network: "instagram", media: [PHOTO] },
  "linkedin, a member": { network: "linkedin", isUntold: true },
  "linkedin, a page": { network: "linkedin", as: { kind: "organization" } },
  "bluesky, a text": { network: "bluesky" },
  "mastodon, a text": { network: "mastodon" },
};

/** What one call suffers, in the words of the sandbox; or its worker. */
const TROUBLES = [
  ["is answered", undefined],
  ["is lost", "drop-before"],
  ["had its effect and its answer is lost", "drop-answer"],
  ["is refused although it had its effect", "refuse-after:content_rejected"],
  ["fails with a 5xx before it had an effect", "fail:network_unavailable"],
  ["fails with an HTML page before it had an effect", "html-502"],
  ["fails with a 5xx after it had its effect", "error-after"],
  ["is throttled", "fail:rate_limited"],
  ["was marked by a worker that was killed before it", "killed before"],
  ["was made by a worker that was killed after it", "killed after"],
  ["was marked by a worker that paused for ten minutes before it", "stopped before"],
  ["was made by a worker that paused for ten minutes after it", "stopped after"],
] as const;
const STILL_SECONDS = 600;

const at = useSandbox();

interface Published {
  readonly sandbox: Sandbox;
  readonly tools: SandboxTools;
  readonly call: FollowUp;
  readonly url: string;
}

async function publish({ network, media = [], options = {}, as }: Form): Promise<Published> {
  const { sandbox } = at;
  sandbox.networks.facebook.refuseDuplicates(false);
  const { linked, tools } = await linkDemoAccount(sandbox, network, as);
  const draft = {
    text: unique("Followed"),
    media: media.map((url) => ({ url, altText: null })),
    options: { ...options },
  };
  const walk = await walkLeg(networkOf(network), linked, draft, tools);
  const { externalId, url } = publishedBy(walk);
  return { sandbox, tools, call: followUpOf(walk.leg, externalId), url: url ?? "" };
}

/** Walks the call through the trouble to its end. */
async function walk(
  kind: "comment" | "remove",
  { sandbox, tools, call: given }: Published,
  [network, trouble, text]: readonly [NetworkName, string | undefined, string | null],
) {
  const made = networkOf(network).calls[kind];
  if (made === undefined) throw new Error(`${network} has no ${kind}`);
  const call = { ...given, text };
  const sent = { ...call, sentAt: tools.now() };
  if (trouble === "killed after" || trouble === "stopped after") await made.perform(sent, tools);
  if (trouble?.startsWith("stopped")) tools.advance(STILL_SECONDS);
  if (trouble !== undefined && /^(?:killed|stopped)/.test(trouble))
    return walkFollowUp(made, sent, tools);
  const route = network === "bluesky" ? "deleteRecord" : kind;
  if (trouble !== undefined) sandbox.fault(network, route, trouble);
  return walkFollowUp(made, call, tools);
}

const having = (kind: "comment" | "remove") =>
  Object.entries(FORMS).filter(([, { network }]) => networkOf(network).calls[kind] !== undefined);

/** All troubles of the first form of a network, and of its others what may be there unseen; all in the long check. */
const troublesOf = (form: Form) =>
  IS_LONG || Object.values(FORMS).find(({ network }) => network === form.network) === form
    ? TROUBLES
    : TROUBLES.slice(0, 4);

describe.each(having("remove"))("a removal at %s", (_name, form) => {
  test.each(troublesOf(form))("takes the post down where a call %s", async (_, trouble) => {
    const published = await publish(form);
    const { outcome } = await walk("remove", published, [form.network, trouble, null]);
    // Facebook's and LinkedIn's refusals of a removal end it: a post that is gone all the same is found gone by the next.
    if (trouble?.startsWith("refuse-after")) expect(["done", "rejected"]).toContain(outcome.kind);
    else expect(outcome.kind).toBe("done");
    expect(published.sandbox.posts()).toEqual([]);
    const again = await walk("remove", published, [form.network, undefined, null]);
    expect(again).toMatchObject({ outcome: { kind: "done" }, steps: ["perform done"] });
  });
});

describe.each(having("comment"))("a first comment at %s", (_name, form) => {
  const write = async (trouble: string | undefined, text = unique("First")) => {
    const published = await publish(form);
    const walked = await walk("comment", published, [form.network, trouble, text]);
    const [post] = published.sandbox.posts();
    const shown = (post?.comments ?? []).filter((comment) => comment.text === text);
    return { ...walked, shown };
  };

  test.each(troublesOf(form))(
    "a first comment is there once at most, and told truly, where a call %s",
    async (_, trouble) => {
      const { outcome, shown } = await write(trouble);
      expect(shown.length).toBeLessThanOrEqual(1);
      switch (outcome.kind) {
        case "done":
          expect(shown).toHaveLength(1);
          expect(outcome.externalId).toContain(shown[0]?.id);
          break;
        case "rejected":
        case "refused":
          // Nothing tells that a member's comment is there in spite of a refusal.
          expect(shown).toHaveLength(form.isUntold && trouble?.startsWith("refuse-after") ? 1 : 0);
          break;
        case "unknowable":
          // Only a list that shows the comment proves anything.
          expect(form.isUntold === true || shown.length === 0).toBe(true);
          expect(trouble).not.toBeUndefined();
      }
      const mayBeFound = !form.isUntold && (trouble === undefined || /after|answer/.test(trouble));
      if (mayBeFound) expect(outcome.kind).toBe("done");
    },
  );

  test("waits for a post that the network does not show yet", async () => {
    const { outcome, steps, shown } = await write(undefined, unique("First [processing:2]"));
    expect([outcome.kind, shown.length]).toEqual(["done", 1]);
    expect(steps.filter((step) => step.startsWith("perform")).length).toBeGreaterThan(2);
  });
});

test("stories have neither", () => {
  for (const network of ["facebook", "instagram"] as const) {
    const { comment, remove } = networkOf(network).calls;
    const remote = { form: "video_story" };
    const leg = { account: somebody, limits: {}, remote };
    expect(comment?.isSupported?.(leg)).toBe(false);
    expect(remove?.isSupported?.(leg) ?? false).toBe(false);
  }
});

const somebody = {
  id: "1",
  username: "demo",
  displayName: "Demo",
  avatarUrl: null,
  url: "",
  kind: "page",
};
