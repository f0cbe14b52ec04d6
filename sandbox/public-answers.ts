import { htmlPage, isObject, json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { escapeHtml } from "./html.ts";

/** A call that is to be answered as others were answered in public. */
interface AnsweredCall {
  readonly exchange: Exchange;
  /** The account behind the call's token; "" without one. */
  readonly account: string;
  /** Does what the call asks for, once. */
  readonly effect: () => Promise<Answer>;
}

/** What a real network or server answered to somebody, in its own words. */
export interface PublicAnswer {
  readonly network: string;
  /** `[answer:<name>]` asks for it. */
  readonly name: string;
  /** Routes that answer so when the post has the word. None: a fault alone gives it. */
  readonly routes: readonly string[];
  readonly meaning: string;
  /** Public address of a report or a document, or what else it was read in. */
  readonly source: string;
  readonly play: (call: AnsweredCall) => Answer | Promise<Answer>;
}

type OfNetwork = Omit<PublicAnswer, "network">;
type Say = (call: AnsweredCall) => Answer;

/** The answer comes after the effect. */
const after =
  (say: Say): PublicAnswer["play"] =>
  async (call) => {
    await call.effect();
    return say(call);
  };

const graph =
  (message: string, code: number, more: Readonly<Record<string, unknown>> = {}): Say =>
  () =>
    json(400, { error: { message, type: "OAuthException", code, ...more } });

const named = ({ exchange }: AnsweredCall): string => exchange.params["id"] ?? "";

const sentence =
  (status: number, error: string): Say =>
  () =>
    json(status, { error });

const front = (
  title: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Say => {
  const body = `<!DOCTYPE html><html lang="en-US"><head><title>${escapeHtml(title)}</title></head><body><h1>${escapeHtml(text)}</h1></body></html>`;
  return () => ({
    ...htmlPage(403, body),
    headers: { "content-type": "text/html; charset=UTF-8", server: "cloudflare", ...headers },
  });
};

const throttled =
  (level: string): Say =>
  () =>
    json(429, {
      serviceErrorCode: 101,
      message: `Resource level throttle ${level}limit for calls to this resource is reached.`,
      status: 429,
    });

const wrongAudience = `invalid token: invalid token audience "did:web:pds.sandbox.test", should be the user's PDS DID "did:web:old.sandbox.test"`;

const VANISHED =
  "Object does not exist, cannot be loaded due to missing permission or reviewable feature, or does not support this operation. This endpoint requires the 'pages_read_engagement' permission or the 'Page Public Content Access' feature. Refer to https://developers.facebook.com/docs/apps/review/login-permissions#manage-pages and https://developers.facebook.com/docs/apps/review/feature#reference-PAGES_ACCESS for details.";

const FACEBOOK: readonly OfNetwork[] = [
  {
    name: "gone-33",
    source: "https://github.com/criso/fbgraph/issues/141",
    routes: ["remove"],
    meaning: "Somebody has deleted the post: its removal is (#33).",
    play: after(graph("(#33) This object does not exist or does not support this action", 33)),
  },
  {
    name: "gone-1705",
    source: "https://github.com/nov/fb_graph/issues/369",
    routes: ["remove"],
    meaning: "The same, as (#1705).",
    play: after(graph("(#1705) Selected wall post for deletion does not exist.", 1705)),
  },
  {
    name: "gone-803",
    source: "https://github.com/SammyK/LaravelFacebookSdk/issues/187",
    routes: ["object"],
    meaning: "Reads of the post, its photos or its video are (#803).",
    play: (call) =>
      graph(`(#803) Some of the aliases you requested do not exist: ${named(call)}`, 803)(call),
  },
  {
    name: "gone-10",
    source: "run logs of public projects, Graph v22, August 2026",
    routes: ["remove", "object"],
    meaning: "The removal, and reads after it, are (#10) Object does not exist.",
    play: goneAfter(graph(`(#10) ${VANISHED}`, 10)),
  },
  {
    name: "gone-100",
    source: "run logs of public projects, Graph v22, August 2026",
    routes: ["remove", "object"],
    meaning: "The same as (#100), without a subcode.",
    play: goneAfter(graph(`(#100) ${VANISHED}`, 100)),
  },
  {
    name: "usage-of-others",
    source: "https://developers.facebook.com/docs/graph-api/overview/rate-limiting",
    routes: ["feed"],
    meaning: "Too many calls; the header has the waits of other limits, too: 300 minutes, 0 and 2.",
    play: ({ account }) => {
      const use = (type: string, percent: number, minutes: number) => ({
        type,
        call_count: percent,
        total_cputime: 25,
        total_time: 25,
        estimated_time_to_regain_access: minutes,
      });
      const usage = {
        "1234567890": [use("ads_insights", 100, 300), use("ads_management", 29, 0)],
        [account]: [use("pages", 101, 2)],
      };
      const message =
        "(#80001) There have been too many calls to this Page account. Wait a bit and try again.";
      return json(
        400,
        { error: { message, type: "OAuthException", code: 80_001 } },
        { "x-business-use-case-usage": JSON.stringify(usage) },
      );
    },
  },
  {
    name: "posted-already",
    source: "public lists of Graph errors",
    routes: ["feed"],
    meaning: "Refused as a repetition: 368, without a subcode.",
    play: graph(
      "You've already posted this. Posting the same content repeatedly is not allowed.",
      368,
    ),
  },
];

const INSTAGRAM: readonly OfNetwork[] = [
  {
    name: "unreadable",
    source: "https://github.com/gitroomhq/postiz-app/issues/1562",
    routes: ["object"],
    meaning: "Containers can be published and not read: 100/33.",
    play: graph("Authorization Error", 100, { type: "GraphMethodException", error_subcode: 33 }),
  },
  {
    name: "unreadable-10",
    source: "https://github.com/geoff-maddock/events-tracker/issues/1900",
    routes: ["object"],
    meaning: "The same as (#10).",
    play: graph("(#10) Application does not have permission for this action", 10),
  },
  {
    name: "unsupported-request",
    source: "https://github.com/in2code-de/instagram/issues/25",
    routes: ["media", "mediaPublish", "object"],
    meaning: "Unsupported request, as one account gets for weeks. A fault can name the account.",
    play: ({ exchange }) => {
      const message = `Unsupported request - method type: ${exchange.method.toLowerCase()}`;
      return json(400, { error: { message, type: "IGApiException", code: 100 } });
    },
  },
  {
    name: "developer-role",
    source: "https://github.com/loicnestler/instagram-basic-display/issues/2",
    routes: [],
    meaning:
      "As a fault on `accessToken`: the app is in development mode, and the account is none of its testers.",
    play: () =>
      json(400, {
        error_type: "OAuthException",
        code: 400,
        error_message: "Insufficient developer role",
      }),
  },
];

const LINKEDIN: readonly OfNetwork[] = [
  {
    name: "app-day",
    source: "https://learn.microsoft.com/linkedin/shared/api-guide/concepts/rate-limits",
    routes: ["posts"],
    meaning: "The app's limit of the day. As a fault on `userinfo`, linking gets it, too.",
    play: throttled("APPLICATION DAY "),
  },
  {
    name: "throttled",
    source: "https://github.com/Automattic/wp-calypso/issues/32007",
    routes: ["posts"],
    meaning: "A limit that does not say whose it is.",
    play: throttled(""),
  },
];

const BLUESKY: readonly OfNetwork[] = [
  {
    name: "video-audience",
    source: "https://github.com/blacksky-algorithms/blacksky.community/issues/24",
    routes: [],
    meaning:
      "As a fault on `uploadVideo`: the service wants the audience of the account's old server (400).",
    play: () => json(400, { error: "invalid_token", message: wrongAudience }),
  },
  {
    name: "video-audience-401",
    source: "the same sentence, with another status: the report has none",
    routes: [],
    meaning: "The same with 401.",
    play: () => json(401, { error: "invalid_token", message: wrongAudience }),
  },
  {
    name: "video-audience-job",
    source: "the same sentence in the service's own form",
    routes: [],
    meaning: "The same with 400 and an empty job.",
    play: ({ account }) =>
      json(400, {
        jobId: "",
        did: account,
        state: "",
        error: "invalid_token",
        message: wrongAudience,
      }),
  },
  {
    name: "did-only",
    source: "servers that look accounts up by their DID alone",
    routes: [],
    meaning: "As a fault on `createSession`: the server refuses the handle and accepts the DID.",
    play: ({ exchange, effect }) => {
      const sent: unknown = JSON.parse(exchange.body.toString("utf8"));
      if (isObject(sent) && String(sent["identifier"]).startsWith("did:")) return effect();
      const message = "Invalid identifier or password";
      return json(401, { error: "AuthenticationRequired", message });
    },
  },
];

const refusal = (name: string, source: string, meaning: string, play: Say): OfNetwork => ({
  name,
  source,
  routes: ["statuses"],
  meaning,
  play,
});

const MASTODON: readonly OfNetwork[] = [
  refusal(
    "invalid-credentials",
    "lib/pleroma/web/plugs/ensure_authenticated_plug.ex of Pleroma",
    "Pleroma and Akkoma: the token has ended. As a fault on `verifyCredentials`, the daily check gets it.",
    sentence(403, "Invalid credentials."),
  ),
  refusal(
    "challenge",
    "https://github.com/halcy/Mastodon.py/issues/213",
    "A Cloudflare challenge to programs. As a fault on `instance`, linking gets it, too.",
    front("Just a moment...", "Enable JavaScript and cookies to continue", {
      "cf-mitigated": "challenge",
    }),
  ),
  refusal(
    "blocked",
    "https://github.com/Awful/Awful.app/issues/1060",
    "A front's firewall dislikes this text.",
    front("Attention Required! | Cloudflare", "Sorry, you have been blocked"),
  ),
  refusal(
    "text-wanted",
    "https://github.com/akirk/enable-mastodon-apps/issues/248",
    "WordPress with Enable Mastodon Apps: a picture needs a text.",
    () =>
      json(422, {
        code: "mastodon_api_submit_post",
        message: "Validation failed: Text can't be blank",
        data: { status: 422 },
      }),
  ),
  refusal(
    "scope-pleroma",
    "lib/pleroma/web/plugs/o_auth_scopes_plug.ex of Pleroma",
    "Pleroma and Akkoma: the token lacks a scope.",
    sentence(403, "Insufficient permissions: write:statuses."),
  ),
  refusal(
    "scope-gotosocial",
    "internal/api/util/auth.go of GoToSocial",
    "GoToSocial: the same.",
    sentence(403, "Forbidden: token has insufficient scope permission"),
  ),
  refusal(
    "scope-pixelfed",
    "app/Http/Controllers/Api/ApiV1Controller.php of Pixelfed",
    "Pixelfed: the same.",
    sentence(403, "Invalid scope(s) provided."),
  ),
  refusal(
    "scope-oauth",
    "https://www.rfc-editor.org/rfc/rfc6750#section-3.1",
    "The same in OAuth's words.",
    sentence(403, "insufficient_scope"),
  ),
  refusal(
    "moved",
    "internal/api/util/auth.go of GoToSocial",
    "GoToSocial: the account has moved.",
    sentence(
      403,
      "Forbidden: your account has Moved or is currently Moving; you cannot take create or update type actions",
    ),
  ),
  refusal(
    "too-long",
    "internal/processing/status/common.go of GoToSocial",
    "GoToSocial: the text is too long.",
    sentence(400, "Bad Request: status too long, 6000 characters provided but limit is 5000"),
  ),
  {
    name: "without-media",
    source: "servers that drop files they could not process",
    routes: ["statuses"],
    meaning: "The post is made, and the answer has none of its files.",
    play: async ({ effect }) => {
      const made = await effect();
      if (made.status !== 200 || typeof made.body !== "string") return made;
      const status: unknown = JSON.parse(made.body);
      return json(200, { ...(isObject(status) ? status : {}), media_attachments: [] });
    },
  },
];

/** A deletion has its effect before it is answered; a read has none. */
function goneAfter(say: Say): PublicAnswer["play"] {
  return (call) => (call.exchange.method === "DELETE" ? after(say)(call) : say(call));
}

/** Answers that were reported or documented in public, with their sources. */
export const PUBLIC_ANSWERS: readonly PublicAnswer[] = Object.entries({
  facebook: FACEBOOK,
  instagram: INSTAGRAM,
  linkedin: LINKEDIN,
  bluesky: BLUESKY,
  mastodon: MASTODON,
}).flatMap(([network, answers]) => answers.map((answer) => ({ ...answer, network })));

export function findPublicAnswer(network: string, name: string): PublicAnswer | undefined {
  return PUBLIC_ANSWERS.find((answer) => answer.network === network && answer.name === name);
}
