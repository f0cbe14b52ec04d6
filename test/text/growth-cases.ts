import { isMadeOfWords, wordsOf } from "../../src/shared/people/staff/personal-words.ts";
import { parseRecoveryCode } from "../../src/shared/people/staff/second-factor.ts";
import { ChangePasswordBody, LogInBody, SignUpBody } from "../../src/shared/people/staff/schema.ts";
import { readCredential } from "../../src/shared/callers/credential.ts";
import { readBrowserId } from "../../src/shared/connections/hosted-page/browser.ts";
import { html, initialOf, plainName } from "../../src/shared/connections/hosted-page/markup.ts";
import { chooseLocale } from "../../src/shared/runtime/locale.ts";
import { CreateConnectSessionBody } from "../../src/shared/connections/schema.ts";
import type { Config } from "../../src/shared/config/config.ts";
import { addressGroup, callerAddress } from "../../src/shared/callers/caller-address.ts";
import { readForm, readJson, type Incoming } from "../../src/shared/http/parse-input.ts";
import { isNestedTooDeep } from "../../src/shared/runtime/json-depth.ts";
import { redact } from "../../src/shared/runtime/log.ts";
import { misreadAddress } from "../../src/shared/runtime/web-address.ts";
import * as bluesky from "../../src/shared/networks/bluesky/errors.ts";
import { facetsOf, findStretches } from "../../src/shared/networks/bluesky/facets.ts";
import { readIdentifier } from "../../src/shared/networks/bluesky/identity.ts";
import { readPageCard } from "../../src/shared/media/page-card.ts";
import { isHtml, noteOf, waitSeconds } from "../../src/shared/networks/contract/answers.ts";
import {
  countGraphemes,
  textOfHtml,
  unescapeHtml,
  composed,
  originOf,
  serverOrigin,
} from "../../src/shared/networks/contract/text.ts";
import { mediaKindOf } from "../../src/shared/networks/contract/draft.ts";
import * as facebook from "../../src/shared/networks/facebook/errors.ts";
import * as instagram from "../../src/shared/networks/instagram/errors.ts";
import * as linkedin from "../../src/shared/networks/linkedin/errors.ts";
import { littleText, plainText } from "../../src/shared/networks/linkedin/publish.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import * as mastodon from "../../src/shared/networks/mastodon/errors.ts";
import { countCharacters } from "../../src/shared/networks/mastodon/rules.ts";
import { comparable } from "../../src/shared/networks/mastodon/own-posts.ts";
import { isAllowedAddress, refusedUrl } from "../../src/shared/runtime/outbound.ts";
import { createCursors } from "../../src/shared/runtime/page.ts";
import { textHash } from "../../src/shared/publishing/accounts/recent-text.ts";
import { DraftBody } from "../../src/shared/publishing/accept/schema.ts";
import { parseApiKey, unseal } from "../../src/shared/runtime/secrets.ts";
import { parseTraceParent } from "../../src/shared/runtime/telemetry/work-context.ts";
import { retryAfterSeconds } from "../../src/shared/webhooks/deliveries/delivery.ts";
import { keptText } from "../../src/shared/webhooks/deliveries/send-delivery.ts";
import { CreateEndpointBody } from "../../src/shared/webhooks/schema.ts";
import { answer, NOW } from "../networks/scripted-tools.ts";

/** The longest password. */
const PASSWORD_CHARACTERS = 128;

/** What looks at text from outside: it is fed with every text of `WORST`, and with its own worst. */
export interface GrowthCase {
  readonly name: string;
  readonly look: (text: string) => unknown;
  /** Texts of about so many UTF-16 units, each made for a pattern in it. */
  readonly worst?: readonly ((length: number) => string)[];
  /** Places of the patterns in it that no checker proves to be linear: this is their proof. */
  readonly covers?: readonly string[];
}

/** A beginning, what is repeated, and an end. */
const repeated =
  (middle: string, beginning = "", end = "") =>
  (length: number): string =>
    beginning + middle.repeat(Math.floor(length / middle.length)) + end;

/** What patterns stumble over: one character or few for ever, and never what would end it. */
export const WORST: Readonly<Record<string, (length: number) => string>> = {
  letters: repeated("a"),
  "letters of many bytes": repeated("é"),
  words: repeated("a "),
  spaces: repeated(" ", "a", "a"),
  "line breaks": repeated("\r\n", "a", "a"),
  digits: repeated("1"),
  punctuation: repeated("!", "#a", "a"),
  brackets: repeated("(", "https://a.example/"),
  "closing brackets": repeated(")", "https://a.example/"),
  tags: repeated("<"),
  "open tags": repeated("<a "),
  quotes: repeated("\"'"),
  ampersands: repeated("&#"),
  braces: repeated("{"),
  backslashes: repeated("\\"),
  slashes: repeated("/", "", "\n"),
  dots: repeated("a."),
  dashes: repeated("a-"),
  colons: repeated(":", "[", ":"),
  commas: repeated("a,"),
  semicolons: repeated("a=;"),
  percents: repeated("%"),
  mentions: repeated("@a"),
  "mentions in brackets": repeated("@[p"),
  "texts that are too long": repeated("text", "", " too lon"),
  "a long mention": repeated("a", "@"),
  "a mention's long domain": repeated(".", "@a@"),
  hashtags: repeated("#a"),
  "a long hashtag": repeated("ä", "#"),
  cashtags: repeated("$A "),
  addresses: repeated("https://a.b "),
  "addresses without an end": repeated("https://"),
  "an address' long query": repeated("!", "https://a.example/?"),
  "one letter's marks": repeated("\u0301\u0316", "a"),
  "marks in the wrong order": (length) =>
    `a${"\u0301".repeat(length / 2)}${"\u0316".repeat(length / 2)}`,
  flags: repeated("🇩"),
  families: repeated("👩\u200d"),
  syllables: repeated("\u1100\u1161\u11a8"),
  "half a pair": repeated("\ud800"),
};

const headerOf = (text: string) =>
  // Safe: the readers of headers take nothing else of them; a real one refuses some of these texts.
  ({ get: () => text }) as unknown as Headers;

const incoming = (body: string, type: string): Incoming => ({
  method: "POST",
  url: new URL("https://relay.example/v1/posts"),
  headers: new Headers({ "content-type": type }),
  params: {},
  body: () => Promise.resolve(new TextEncoder().encode(body)),
});

const quietly = (look: () => unknown): unknown => {
  try {
    return look();
  } catch (error) {
    return error;
  }
};

const cursors = createCursors({ current: new Uint8Array(32), previous: undefined });
const classifiers = { bluesky, facebook, instagram, linkedin, mastodon };

function errorCases(): GrowthCase[] {
  return Object.entries(classifiers).map(([name, { classify }]) => ({
    name: `${name}: what an error means`,
    look: (text: string) => {
      const isGraph = name === "facebook" || name === "instagram";
      const words = { error: "InvalidRequest", message: text };
      const body = isGraph ? { error: { message: text, code: 100 } } : words;
      const status = name === "mastodon" ? 422 : 400;
      return classify(answer(status, name === "mastodon" ? { error: text } : body), NOW);
    },
    worst: [
      repeated("blob "),
      repeated("record:"),
      repeated("text too big "),
      repeated("version "),
      repeated("duplicate of urn:li:share:"),
      repeated("1234567 "),
      repeated("too big text "),
    ],
    covers: ERROR_PATTERNS[name as keyof typeof classifiers] ?? [],
  }));
}

/** `error-table.ts` gives a pattern 2,000 characters to look at. */
const ERROR_PATTERNS: Partial<Record<keyof typeof classifiers, readonly string[]>> = {
  bluesky: [
    "networks/bluesky/errors.ts: could not find blob|blob",
    "networks/bluesky/errors.ts: too (?:big|long).*\\btext",
    "networks/bluesky/errors.ts: record:.*\\bthumb\\b",
    "networks/bluesky/errors.ts: record:.*\\bexternal\\b",
    "networks/bluesky/errors.ts: record:.*\\b(?:embed|imag",
    "networks/bluesky/errors.ts: record:.*\\b(?:text|facet",
  ],
  linkedin: ["networks/linkedin/errors.ts: version.*(?:not active|d"],
  mastodon: ["networks/mastodon/errors.ts: text.*too long"],
};

function ruleCases(): GrowthCase[] {
  const covers: Partial<Record<NetworkName, readonly string[]>> = {
    linkedin: ["networks/linkedin/rules.ts: @\\[([^[\\]()\\n]{1,200})\\]"],
    instagram: [
      "networks/instagram/rules.ts: (?<![\\w&])#[\\p{L}\\p{N}_]",
      "networks/instagram/rules.ts: (?<![\\w.])@[\\w.]+",
    ],
  };
  return NETWORK_NAMES.map((name) => ({
    name: `${name}: its rules and measure`,
    look: (text: string) => {
      const network = networkOf(name);
      const media = [{ url: "https://a.example/a.jpg", altText: text }];
      const draft = { text, media, options: {} };
      return [network.check(draft, {}), network.measure(draft, {})];
    },
    covers: covers[name] ?? [],
  }));
}

const TEXTS: readonly GrowthCase[] = [
  {
    name: "the hash of a recent text",
    look: textHash,
    covers: [
      "networks/contract/text.ts: .normalize",
      "networks/contract/text.ts: \\p{M}{30}(?=\\p{M})",
    ],
  },
  { name: "a text's composed form", look: composed },
  {
    name: "the words of a name",
    look: (text) => isMadeOfWords(text.slice(0, PASSWORD_CHARACTERS), wordsOf([text])),
    covers: ["runtime/folded-name.ts: .normalize"],
  },
  {
    name: "an address as it is written",
    look: (text) => misreadAddress(`https://${text}/`),
    covers: ["runtime/web-address.ts: .normalize"],
  },
  {
    name: "a count of graphemes",
    look: countGraphemes,
    covers: ["networks/contract/text.ts: Intl.Segmenter"],
  },
  {
    name: "Mastodon's count of characters",
    look: (text) => countCharacters(text, text, 23),
    worst: [
      repeated("(a", "https://a.com/"),
      repeated("a", "https://a.com/("),
      repeated("a.", "https://"),
      repeated("@a.-"),
      repeated("-", "@a"),
      repeated("@_@_"),
      repeated("https://a.b?!"),
      repeated("https://a.com/("),
      repeated("https://a.com/", "", "("),
      repeated(".a", "https://a"),
      repeated("_.a", "https://a"),
      repeated("日.日"),
      repeated("://a"),
      repeated("xn--a."),
      repeated("https://é.com "),
      repeated("@a@b"),
      repeated("@a@a.-"),
      repeated(".", "@a@a"),
    ],
    covers: ["networks/mastodon/counted-text.ts: (?<![=/\\p{L}\\p{M}\\p{Nd}\\"],
  },
  {
    name: "Mastodon's text as it is compared",
    look: comparable,
    worst: [repeated("@a@."), repeated("@.")],
  },
  {
    name: "Bluesky's links, mentions and tags",
    look: (text) => {
      const stretches = findStretches(text);
      const handles = stretches.flatMap((found) =>
        found.kind === "mention" ? [found.handle] : [],
      );
      return facetsOf(text, stretches, new Map(handles.map((handle) => [handle, "did:web:a"])));
    },
    worst: [
      repeated("@a.com "),
      repeated("#a "),
      repeated("a.com "),
      repeated("a-", "", ".com"),
      repeated("-", " @"),
      repeated("!", "https://a.example/"),
      repeated("!)", "https://a.example/"),
      repeated("()", "https://a.example/"),
      repeated("!a", "#"),
      repeated("一丁丂", "https://"),
      repeated("🌈", "https://"),
      repeated("l'@a.com "),
      repeated("(l'"),
      repeated("#a/"),
      repeated("a_", "#", "/#a"),
      repeated("«", "«https://a.example/"),
      repeated("'", "'https://a.example/"),
      repeated("<", "<https://a.example/?"),
      repeated("\u200f"),
    ],
    covers: [
      "networks/bluesky/facets.ts: (?<=^|[\\s(\\[{<«‹“‘„‚「『（【",
      "networks/bluesky/facets.ts: (?<!\\p{P})\\p{P}+$",
    ],
  },
  {
    name: "LinkedIn's little text, written",
    look: littleText,
    covers: ["networks/linkedin/publish.ts: https?:\\/\\/\\S+|(?<![\\p{L"],
  },
  {
    name: "LinkedIn's little text, read",
    look: plainText,
    worst: [repeated("{hashtag|#|"), repeated("{hashtag|\\#|a}")],
  },
];

const ANSWERS: readonly GrowthCase[] = [
  {
    name: "a status' HTML as text",
    look: textOfHtml,
    worst: [repeated("<br "), repeated("<br", "", ">"), repeated("</p"), repeated("a", "<")],
  },
  {
    name: "HTML's character references",
    look: unescapeHtml,
    worst: [repeated("&#x1"), repeated("&amp")],
  },
  {
    name: "the card of a page",
    look: (text) =>
      readPageCard({
        url: "https://a.example/",
        contentType: "text/html",
        body: Buffer.from(text),
      }),
    worst: [
      repeated("<div>"),
      repeated("<svg>"),
      repeated("</svg>", "<svg>".repeat(200)),
      repeated("<svg><p>"),
      repeated("<template>"),
      repeated("<b id=1><p>"),
      repeated("<!--"),
      repeated("<script>"),
      repeated("<a ", "", " =b"),
      repeated("charset ", '<meta http-equiv=content-type content="'),
      repeated("encoding ", "<?xml "),
      repeated("<title"),
      repeated("<title>"),
      repeated("<title ", "", ">a"),
      repeated("<meta "),
      repeated('<meta a="'),
      repeated(" a=", "<meta"),
      repeated(' a="', "<meta"),
      repeated("a ", "<meta "),
      repeated("&quot;", "<title>"),
    ],
  },
  {
    name: "a network's words as the timeline shows them",
    look: noteOf,
    worst: [
      repeated("eyJaaaaa-"),
      repeated("Bearer "),
      repeated("password "),
      repeated("password=", ""),
      repeated("abcd-"),
      repeated("?code="),
    ],
  },
  { name: "whether an answer is a page", look: (text) => isHtml(answer(200, text)) },
  {
    name: "how long an answer asks to wait",
    look: (text) => [
      waitSeconds(answer(429, "", { "retry-after": text }), ["retry-after"], NOW),
      retryAfterSeconds(429, text, NOW),
    ],
    worst: [repeated("Jan "), repeated("1:"), repeated("0", "0x")],
  },
  { name: "a webhook's answer as it is kept", look: (text) => keptText(Buffer.from(text)) },
  {
    name: "a name on the page",
    look: (text) => [plainName(text), initialOf(text), html`${text}`.text],
  },
  ...errorCases(),
];

const REQUESTS: readonly GrowthCase[] = [
  ...ruleCases(),
  {
    name: "a post's body",
    look: (text) =>
      DraftBody().safeParse({
        text,
        platforms: [text],
        mediaUrls: [text, `https://${text}`],
        altTexts: [text],
        scheduleAt: text,
        externalId: text,
        metadata: { [text]: text },
        [text]: text,
        platformOptions: {
          bluesky: { langs: [text], linkCard: { url: text } },
          instagram: { collaborators: [text], coverUrl: text },
          mastodon: { language: text, spoilerText: text },
          facebook: { link: text },
          linkedin: { link: text },
        },
      }),
    worst: [
      repeated("12345-", "en-"),
      (length) => variants(length),
      repeated("1", "2030-01-31T09:00:00."),
    ],
    covers: ["networks/options.ts: Intl.getCanonicalLocales"],
  },
  {
    name: "other bodies",
    look: (text) => [
      SignUpBody().safeParse({ email: text, password: text, platformName: text }),
      LogInBody().safeParse({ email: text, password: text, totpCode: text }),
      ChangePasswordBody().safeParse({ currentPassword: text, newPassword: text }),
      CreateConnectSessionBody().safeParse({
        returnUrl: text,
        state: text,
        branding: { name: text, accentColor: text, logoUrl: text },
      }),
      CreateEndpointBody().safeParse({ url: text, events: [text], description: text }),
    ],
    worst: [repeated("a@"), repeated("a.", "a@"), repeated("a-", "a@"), repeated("a..")],
  },
  {
    name: "a body as JSON",
    look: (text) =>
      readJson(incoming(JSON.stringify({ [text]: [text] }), "application/json")).catch(String),
  },
  {
    name: "how deep JSON is nested",
    look: isNestedTooDeep,
    worst: [repeated("[]"), repeated("[", '"'), repeated('\\"', '"')],
  },
  {
    name: "a body as a form",
    look: (text) => readForm(incoming(text, "application/x-www-form-urlencoded")).catch(String),
    worst: [repeated("a&"), repeated("a=b&"), repeated("%41")],
  },
  { name: "a recovery code", look: parseRecoveryCode },
  { name: "a media URL's ending", look: (text) => mediaKindOf(`https://a.example/${text}`) },
  {
    name: "what a person types for an account",
    look: (text) => [readIdentifier(text, true), serverOrigin(text), originOf(`https://${text}`)],
    worst: [repeated(".a", "a@a"), repeated("a", "did:web:"), repeated("\u200b")],
  },
  {
    name: "a URL that is to be dialled",
    look: (text) => [refusedUrl(`https://${text}`), isAllowedAddress(text)],
  },
];

const HEADERS: readonly GrowthCase[] = [
  {
    name: "a caller's address",
    look: (text) => [callerAddress(headerOf(text), 1), addressGroup(text)],
    worst: [repeated("%a", "fe80::1"), repeated("1", "::ffff:"), repeated("1.", "::")],
  },
  {
    name: "a page's language",
    look: chooseLocale,
    worst: [repeated("en;q=0."), repeated("en;q=1,")],
  },
  {
    name: "a browser's cookie",
    look: (cookie) =>
      // Safe: these are all that it reads.
      readBrowserId({ publicBaseUrl: "https://a" } as Config, { cookie }),
    worst: [repeated("__Host-cx=;")],
  },
  {
    name: "a trace's parent",
    look: parseTraceParent,
    worst: [repeated("-", `00-${"1".repeat(32)}-${"1".repeat(16)}-01`)],
    covers: ["runtime/telemetry/work-context.ts: ^([0-9a-f]{2})-([0-9a-f]"],
  },
  {
    name: "a credential",
    look: (text) => quietly(() => readCredential(headerOf(`Bearer ${text}`))),
    worst: [repeated(" ", "", "a b")],
  },
  { name: "an API key", look: parseApiKey, worst: [repeated("0", "sk_live_")] },
  {
    name: "what was sealed",
    look: (text) => unseal(text, "place", new Map([["a", new Uint8Array(32)]])),
  },
  { name: "a cursor", look: (text) => quietly(() => cursors.read(text, {})) },
  {
    name: "a log line",
    look: (text) => redact({ text, [text]: text, error: new Error(text) }),
    worst: [
      repeated("eyJaaaaaaaa"),
      repeated("sk_live_"),
      repeated("whsec_+"),
      repeated("http://a"),
      repeated("http://a?"),
    ],
    covers: ["runtime/log.ts: sk_live_[0-9A-Za-z_]{8,}"],
  },
];

/** Variants of a language, none twice: the runtime compares each with every other. */
function variants(length: number): string {
  const names = Array.from({ length: Math.floor(length / 6) }, (_, index) =>
    String(10_000 + index),
  );
  return `en-${names.join("-")}`;
}

export const GROWTH_CASES: readonly GrowthCase[] = [...TEXTS, ...ANSWERS, ...REQUESTS, ...HEADERS];
