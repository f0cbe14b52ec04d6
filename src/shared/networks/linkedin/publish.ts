import { SITE, restPost } from "./request.ts";
import { type ClassifiedAnswer, exchange } from "../contract/answers.ts";
import { notAccepted, startOver, unconfirmed } from "../contract/outcome.ts";
import type { Done, Outcome } from "../contract/outcome.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { encodedAddress } from "../contract/web-address.ts";
import { duplicateUrn } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { withoutAssets } from "./prepare.ts";
import { wantedFiles } from "./upload.ts";
import { classifyFor } from "./session.ts";
import { documentTitleOf, MENTION } from "./rules.ts";
import type { Asset, Leg, Remote } from "./state.ts";

const POST_URN = /^urn:li:(?:share|ugcPost|activity):\d+$/;

export async function perform(leg: Leg): Promise<Outcome> {
  const { remote } = leg;
  const outcome = await publish(leg);
  const doubted = { ...remote, isRepeat: true, doubts: remote.doubts + 1 };
  return outcome.kind === "unknown" ? { ...outcome, remote: doubted } : outcome;
}

async function publish(leg: Leg): Promise<Outcome> {
  const { visibility = "PUBLIC" } = ownOptionsOf(leg.draft);
  const answer = await exchange(
    leg.tools,
    restPost(
      "posts",
      {
        author: leg.credentials.author,
        commentary: littleText(leg.draft.text),
        visibility,
        distribution: {
          feedDistribution: "MAIN_FEED",
          targetEntities: [],
          thirdPartyDistributionChannels: [],
        },
        lifecycleState: "PUBLISHED",
        isReshareDisabledByAuthor: false,
        content: contentOf(leg),
      },
      leg,
    ),
  );
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const published = readPublished(answer, leg.remote);
  if (published !== undefined) return published;
  return notAccepted(answer, await classifyFor(answer, leg), (why) => prepareAgain(why, leg));
}

function contentOf({ draft, remote: { assets } }: Leg): Record<string, unknown> | undefined {
  if (assets.length < wantedFiles(draft).length) throw new Error("the files were not prepared");
  const { link } = ownOptionsOf(draft);
  const [first] = assets;
  if (draft.media.length > 1) {
    const images = assets.map(({ urn }, index) => withAltText(urn, draft.media[index]?.altText));
    return { multiImage: { images } };
  }
  if (draft.media.length === 1 && first !== undefined) {
    return { media: singleMedia(first, draft) };
  }
  if (link === undefined) return undefined;
  const { url, title, description } = link;
  return { article: { source: encodedAddress(url), title, description, thumbnail: first?.urn } };
}

function singleMedia({ urn, kind, name }: Asset, draft: Leg["draft"]) {
  if (kind === "image") return withAltText(urn, draft.media[0]?.altText);
  return kind === "document" ? { id: urn, title: documentTitleOf(draft, name) } : { id: urn };
}

function withAltText(id: string, altText: string | null | undefined) {
  return { id, ...(altText ? { altText } : {}) };
}

function readPublished(answer: HttpResponse, { isRepeat }: Remote): Done | undefined {
  if (answer.status === 201) {
    const urn = answer.headers["x-restli-id"]?.replaceAll("%3A", ":") ?? "";
    return POST_URN.test(urn) ? publishedAs(urn) : undefined;
  }
  // Only an earlier call of ours with a lost answer can have made it. On the first call it is another post.
  const urn = isRepeat ? duplicateUrn(answer) : undefined;
  return urn === undefined ? undefined : publishedAs(urn);
}

function prepareAgain(classified: ClassifiedAnswer, leg: Leg): Outcome {
  if (classified.code !== "media_not_ready") return startOver(classified, withoutAssets(leg));
  const { remote } = leg;
  const assets = remote.assets.map((asset) => ({ ...asset, isReady: false }));
  // How long to wait depends on the files, so `prepare` decides.
  return startOver(classified, { ...remote, assets, notReady: (remote.notReady ?? 0) + 1 });
}

export function publishedAs(urn: string): Done {
  return { kind: "done", externalId: urn, url: `${SITE}/feed/update/${urn}/` };
}

/** https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format */
const RESERVED = String.raw`\\|{}@[\]()<>#*_~`;
const EACH_RESERVED = new RegExp(`[${RESERVED}]`, "g");
/**
 * A word of a hashtag. Persian, Sinhala and others join or separate letters within one by U+200C and U+200D, Catalan and
 * Japanese by a dot in the middle.
 */
const WORD = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_]|[\u200c\u200d\u00b7\u30fb](?=[\p{L}\p{N}]))*`;
/**
 * Read from left to right, so that nothing is escaped twice: an address as a whole, because a `#` in it begins no
 * hashtag; then a hashtag at the start of a word; then any character that has a meaning for LinkedIn.
 */
const TOKEN = new RegExp(
  String.raw`https?:\/\/\S+|(?<![\p{L}\p{M}\p{N}_#＃&])([#＃])(${WORD})|[${RESERVED}]`,
  "giu",
);
const WRITTEN = new RegExp(String.raw`\{hashtag\|\\?([#＃])\|([^{}]*)\}|\\([${RESERVED}])`, "gu");

/**
 * Returns plain text in LinkedIn's format. Readers see the text itself, and an unescaped reserved character would end
 * the published text. Addresses are escaped with a backslash too, because percent-encoding would lead to another page
 * on servers that distinguish the two.
 */
export function littleText(text: string): string {
  let written = "";
  let from = 0;
  for (const mention of text.matchAll(MENTION)) {
    const [whole, name = ""] = mention;
    const target = whole.slice(whole.indexOf("]") + 1);
    written += `${withoutMentions(text.slice(from, mention.index))}@[${escaped(name)}]${target}`;
    from = mention.index + whole.length;
  }
  return written + withoutMentions(text.slice(from));
}

function withoutMentions(text: string): string {
  return text.replace(TOKEN, (token: string, sign = "", tag = "") => {
    if (token.length === 1) return `\\${token}`;
    // `#1` is only a number.
    return /\p{L}/u.test(tag) ? `{hashtag|\\${sign}|${escaped(tag)}}` : escaped(token);
  });
}

function escaped(text: string): string {
  return text.replace(EACH_RESERVED, String.raw`\$&`);
}

/** Returns the text of a commentary as a reader sees it. Links to people and pages stay as they are written. */
export function plainText(commentary: string): string {
  return commentary.replace(
    WRITTEN,
    (_written: string, sign?: string, tag?: string, reserved?: string) =>
      reserved ?? `${sign ?? ""}${plainText(tag ?? "")}`,
  );
}
