import { findPublicAnswer } from "./public-answers.ts";

/** An answer that the caller of a switch wrote out. */
export interface GivenAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the call has its effect first. */
  readonly isAfter: boolean;
  /** Only calls that have this in their address or body are answered so. */
  readonly contains?: string | undefined;
}

/** What a request is to suffer, from magic words in its text and from switched-on faults. */
export interface Plan {
  readonly delayMs: number;
  /** Happens instead of the effect. */
  readonly before: "drop" | "html" | undefined;
  /** Happens after the effect, instead of the answer. */
  readonly after: "drop" | "html" | "hang" | undefined;
  /** A leg error code, said in the network's own words after the effect. */
  readonly refusalAfter: string | undefined;
  /** A leg error code, to be said in the network's own words instead of the effect. */
  readonly failure: string | undefined;
  /** Polls that uploaded media needs before it is ready. */
  readonly processing: number | undefined;
  /** Name of a public answer. */
  readonly answer: string | undefined;
  readonly given: GivenAnswer | undefined;
}

export const NO_FAULTS: Plan = {
  delayMs: 0,
  before: undefined,
  after: undefined,
  refusalAfter: undefined,
  failure: undefined,
  processing: undefined,
  answer: undefined,
  given: undefined,
};

export interface FaultSwitch {
  readonly network: string;
  /** Name of a route, or `*`. */
  readonly route: string;
  /** A magic word without its brackets, or an answer in full. */
  readonly fault: string | GivenAnswer;
  /** Hits the calls of this account alone. */
  readonly account?: string | undefined;
  times: number;
}

interface MagicWord {
  readonly word: string;
  readonly meaning: string;
}

/** How a network fails, and what to write for it: every network plays all of them. */
export interface FailureMode {
  readonly mode: string;
  readonly words: readonly MagicWord[];
}

/** Refusals of a post as it is, by the code of the leg's error. */
export const REFUSAL_CODES = [
  "permission_missing",
  "account_restricted",
  "text_too_long",
  "text_invalid",
  "media_rejected",
  "link_rejected",
  "content_rejected",
  "duplicate_content",
  "invalid_request",
] as const;

/** The refusal of a post that is live all the same: it is in words that prove nothing. */
export const UNPROVEN = "unproven";

export const FAILURE_MODES: readonly FailureMode[] = [
  {
    mode: "The answer is lost",
    words: [
      {
        word: "[drop-answer]",
        meaning:
          "The post goes live, but the connection is cut before the first answer. The relay checks the account a few seconds later.",
      },
      {
        word: "[hang]",
        meaning:
          "The post goes live, but the first attempt is never answered. The relay stops waiting after a while; later posts of the account wait for that.",
      },
      { word: "[drop-before]", meaning: "The first attempt is cut off before anything happens." },
    ],
  },
  {
    mode: "The server fails",
    words: [
      { word: "[html-502]", meaning: "An HTML 502 page to the first attempt; nothing happens." },
      {
        word: "[fail:network_unavailable:1]",
        meaning: "The network's own 5xx to the first attempt; nothing happens.",
      },
      {
        word: "[error-after]",
        meaning: "The post goes live, but the first attempt is answered with an HTML 502 page.",
      },
      { word: "[slow]", meaning: "The answer takes 3 seconds; [slow:8] takes 8." },
    ],
  },
  {
    mode: "Media is slow or broken",
    words: [
      {
        word: "[processing:3]",
        meaning: "In an alt text or a post with media: the file is ready only after 3 polls.",
      },
      {
        word: "[fail:media_processing_failed]",
        meaning: "In the same places: the network accepts the file and can't process it.",
      },
      {
        word: "[fail:media_unreachable:1]",
        meaning: "Instagram and Facebook can't fetch the file at first; they are asked again.",
      },
    ],
  },
  {
    mode: "Rate limits and quotas",
    words: [
      {
        word: "[fail:rate_limited:1]",
        meaning: "The first attempt is throttled, with the time of the reset where there is one.",
      },
      { word: "[fail:quota_exceeded]", meaning: "The allowance of the day is used up." },
    ],
  },
  {
    mode: "The authorization ends",
    words: [
      {
        word: "[fail:connection_needs_reauth]",
        meaning: "The token is revoked with this call; no later call with it works.",
      },
      {
        word: "[fail:token_expired:1]",
        meaning:
          "The access token expires with this call. With a refresh token, the client can get a new one.",
      },
    ],
  },
  {
    mode: "The post is refused",
    words: [
      {
        word: "[fail:<code>]",
        meaning: `The refusal in the network's own words for a leg error code: ${REFUSAL_CODES.join(", ")}. A network that knows no such refusal calls the text or the request invalid. These refusals prove that nothing was published, so the leg ends immediately. Most of Facebook's don't: there the relay checks the page for a minute first, as the timeline says.`,
      },
      {
        word: "[fail:<code>:2]",
        meaning: "Only the first two attempts are refused, the third goes through.",
      },
      {
        word: "[refuse-after:<code>]",
        meaning: "The post goes live, and the first attempt is refused all the same.",
      },
    ],
  },
  {
    mode: "What follows a post fails",
    words: [
      {
        word: "[remove:<word>]",
        meaning:
          "In the text of a post: the word applies to the removal of the post, as in [remove:drop-answer] or [remove:fail:rate_limited:1].",
      },
      {
        word: "[processing:2]",
        meaning:
          "In a first comment: the network does not show the post yet to the first two attempts. Any other word of this list works in a comment, too.",
      },
    ],
  },
];

const WORD =
  /\[((?:fail|refuse-after):[a-z_]{1,40}(?::\d{1,4})?|answer:[a-z0-9-]{1,40}(?::\d{1,4})?|(?:drop-before|drop-answer|error-after|html-502|slow|hang|processing)(?::\d{1,4})?)\]/g;
const SLOW_SECONDS = 3;
const SLOW_SECONDS_MAX = 60;
const PROCESSING_MAX = 100;
const COUNTS_MAX = 20_000;
const SWITCHES_MAX = 200;

interface Fault {
  readonly kind: string;
  readonly detail: string | undefined;
  /** How many attempts it hits. */
  readonly times: number;
}

function parseCount(text: string | undefined, fallback: number, max: number): number {
  const count = text === undefined ? fallback : Number(text);
  return Number.isInteger(count) && count > 0 ? Math.min(count, max) : fallback;
}

function parseFault(word: string): Fault {
  const [kind = "", first, second] = word.split(":");
  if (kind === "fail" || kind === "answer")
    return { kind, detail: first, times: parseCount(second, Infinity, 1000) };
  if (kind === "refuse-after") return { kind, detail: first, times: parseCount(second, 1, 1000) };
  if (kind === "slow" || kind === "processing") return { kind, detail: first, times: Infinity };
  return { kind, detail: undefined, times: parseCount(first, 1, 1000) };
}

function applied(plan: Plan, fault: Fault): Plan {
  switch (fault.kind) {
    case "fail":
      return { ...plan, failure: fault.detail };
    case "refuse-after":
      return { ...plan, refusalAfter: fault.detail };
    case "drop-before":
      return { ...plan, before: "drop" };
    case "html-502":
      return { ...plan, before: "html" };
    case "drop-answer":
      return { ...plan, after: "drop" };
    case "error-after":
      return { ...plan, after: "html" };
    case "hang":
      return { ...plan, after: "hang" };
    case "slow":
      return { ...plan, delayMs: parseCount(fault.detail, SLOW_SECONDS, SLOW_SECONDS_MAX) * 1000 };
    case "answer":
      return { ...plan, answer: fault.detail };
    case "processing":
      return { ...plan, processing: parseCount(fault.detail, 1, PROCESSING_MAX) };
    default:
      return plan;
  }
}

/** Whether the text is a magic word of the network without its brackets. */
function isFault(network: string, text: string): boolean {
  const { kind, detail = "" } = parseFault(text);
  if (kind === "answer" && findPublicAnswer(network, detail) === undefined) return false;
  return [...`[${text}]`.matchAll(WORD)].length === 1;
}

interface Target {
  readonly network: string;
  readonly route: string;
  /** Makes the attempts at one post countable. */
  readonly who: string;
  readonly account: string;
  /** The call's address and body. */
  readonly sent: () => string;
}

function wordsOf(text = ""): (Fault & { readonly word: string })[] {
  return [...text.matchAll(WORD)].map(([, word = ""]) => ({ ...parseFault(word), word }));
}

export class FaultBook {
  #switches: FaultSwitch[] = [];
  readonly #hits = new Map<string, number>();

  /** Hits the next `times` requests to the route, whatever they say. Throws when the fault is no magic word. */
  switchOn(fault: FaultSwitch): void {
    if (typeof fault.fault === "string" && !isFault(fault.network, fault.fault))
      throw new Error(`"${fault.fault}" is no fault of the sandbox`);
    if (this.#switches.length >= SWITCHES_MAX) throw new Error("too many faults are switched on");
    this.#switches.push({ ...fault });
  }

  switches(): readonly Readonly<FaultSwitch>[] {
    return this.#switches;
  }

  clear(): void {
    this.#switches = [];
    this.#hits.clear();
  }

  /**
   * What this attempt suffers. `who` and the key make the attempts at one post countable; every call counts as one.
   * `about` is the text of the post that the call is about, in which public answers are looked for.
   */
  plan(
    target: Target,
    magic: { readonly text: string; readonly key: string } | undefined,
    about = magic?.text,
  ): Plan {
    let plan = NO_FAULTS;
    const suffered = [
      ...wordsOf(magic?.text).filter(({ kind }) => kind !== "answer"),
      ...wordsOf(about).filter(
        ({ kind, detail = "" }) =>
          kind === "answer" &&
          findPublicAnswer(target.network, detail)?.routes.includes(target.route) === true,
      ),
    ];
    for (const fault of suffered) {
      const id = [
        target.network,
        target.route,
        target.who,
        magic?.key,
        magic?.text ?? about,
        fault.word,
      ].join("\n");
      if (this.#count(id) <= fault.times) plan = applied(plan, fault);
    }
    for (const fault of this.#switches) {
      if (fault.network !== target.network || !["*", target.route].includes(fault.route)) continue;
      if ((fault.account ?? target.account) !== target.account) continue;
      if (typeof fault.fault === "string") plan = applied(plan, parseFault(fault.fault));
      else if (target.sent().includes(fault.fault.contains ?? ""))
        plan = { ...plan, given: fault.fault };
      else continue;
      fault.times -= 1;
    }
    this.#switches = this.#switches.filter(({ times }) => times > 0);
    return plan;
  }

  #count(id: string): number {
    if (this.#hits.size >= COUNTS_MAX) this.#hits.clear();
    const hits = (this.#hits.get(id) ?? 0) + 1;
    this.#hits.set(id, hits);
    return hits;
  }
}
