import type { Answer, Exchange } from "./exchange.ts";
import type { Plan } from "./faults.ts";
import type { BlobStore } from "./blob-store.ts";
import type { RateWindows } from "./rate-windows.ts";

/** Where magic words are looked for, and what tells a repeat of the same call from another one. */
interface MagicText {
  readonly text: string;
  readonly key: string;
}

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The site's hosts that know the path; all of them when absent. */
  readonly hosts?: readonly string[];
  /** Literal text and `{name}`; a parameter never spans a slash. */
  readonly path: string;
  /** The name by which `POST /_sandbox/faults` and the request log call it. */
  readonly name: string;
  readonly bodyMax?: number;
  /** Failures that the route plays itself because they show later than its own answer. */
  readonly playsFailures?: readonly string[];
  magic?(exchange: Exchange): MagicText | undefined | Promise<MagicText | undefined>;
  /** Text of the post that the call is about, where that is not what `magic` returns. Public answers are asked for there. */
  about?(exchange: Exchange): string | undefined;
  run(exchange: Exchange, plan: Plan): Answer | Promise<Answer>;
}

/** Makes a route of `METHOD /path`. */
export function route(
  call: `${Route["method"]} ${string}`,
  name: string,
  run: Route["run"],
  more: Omit<Partial<Route>, "method" | "path" | "name" | "run"> = {},
): Route {
  const [, method, path = ""] = /^(\w+) (.*)$/.exec(call) ?? [];
  // Safe: the type of `call` says so.
  return { ...more, method: method as Route["method"], path, name, run };
}

export interface PublishedMedia {
  readonly kind: "image" | "video" | "document";
  /** Path at the sandbox. */
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly alt: string | null;
  readonly title?: string;
  /** Shown until a video is played. */
  readonly posterPath?: string;
  /** From -1 (left, bottom) to 1 (right, top): what stays in sight where the network crops the file. */
  readonly focus?: { readonly x: number; readonly y: number };
  /** False where the network accepts no description, as for videos at Meta. */
  readonly isDescribable?: boolean;
}

export interface TextSegment {
  readonly text: string;
  readonly href?: string;
}

export interface PublishedComment {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  readonly createdAt: string;
}

/** A post as a reader of the network would find it. */
export interface PublishedPost {
  readonly network: string;
  readonly host: string;
  readonly account: {
    readonly id: string;
    readonly username: string;
    readonly displayName: string;
  };
  readonly id: string;
  /** The address the network itself would give it. */
  readonly url: string;
  /** Where the sandbox shows it. */
  readonly page: string;
  /** How the network lays it out; a plain post when absent. */
  readonly form?: "carousel" | "reel" | "story";
  /** What else the network shows with it, in a few words each. */
  readonly remarks?: readonly string[];
  readonly text: string;
  readonly segments: readonly TextSegment[];
  /** LinkedIn: the network cut the text off at a character that should have been escaped. */
  readonly truncated?: boolean;
  /** Bluesky: the record's facets as they were sent. */
  readonly facets?: unknown;
  /** Mastodon: the content as its API answers it. */
  readonly html?: string;
  readonly contentWarning: string | null;
  readonly visibility: string;
  readonly languages: readonly string[];
  readonly media: readonly PublishedMedia[];
  readonly card: {
    readonly url: string;
    readonly title: string;
    readonly description: string;
    readonly imagePath: string | null;
  } | null;
  /** What the author's record says. */
  readonly createdAt: string;
  /** When the network accepted it. */
  readonly publishedAt: string;
  readonly idempotencyKey: string | null;
  /** Comments below it, oldest first; absent where the network has none or shows none. */
  readonly comments?: readonly PublishedComment[];
  /** When its author took it down: no reader sees it any more. */
  readonly removedAt?: string;
  /** How often it was changed after it was first published: more than 0 is a defect of the publisher. */
  readonly edits: number;
}

export interface LogIn {
  readonly label: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Hosts that the sandbox answers for and what it answers there. */
export interface Site {
  readonly name: string;
  /** The first one is meant when a browser comes to the sandbox's own address. */
  readonly hosts: readonly string[];
  readonly routes: readonly Route[];
  /** Answer for a path that no route accepts, in the site's own form. */
  notFound(exchange: Exchange): Answer;
}

/** One network: a file of its own in this folder and one line in `registry.ts`. */
export interface SandboxNetwork extends Site {
  readonly title: string;
  /** Takes the hosts that nobody else claims; at most one network does. */
  readonly takesUnknownHosts?: boolean;
  /** Asked when several networks have the same browser path, e.g. `/oauth/authorize`. */
  claimsBrowser?(exchange: Exchange): boolean;
  /** The account behind the request's token, for counting magic words per account. */
  accountOf(exchange: Exchange): string;
  /** How this network says the failure, with every side effect that the failure implies. */
  failure(code: string, exchange: Exchange): Answer;
  tooLarge(exchange: Exchange): Answer;
  posts(): readonly PublishedPost[];
  /** Posts that were taken down, as readers last saw them; absent where none can be. */
  removedPosts?(): readonly PublishedPost[];
  /** Returns the name by which readers know an account, by the id that the relay logs. */
  usernameOf(accountId: string): string | undefined;
  readonly logIns: readonly LogIn[];
  /** The developers' apps that the network knows, for the settings of a relay. */
  readonly apps?: readonly LogIn[];
  reset(): void;
  /** Everything to be kept between starts, as JSON. */
  dump(): unknown;
  restore(dumped: unknown): void;
}

/** What the sandbox gives each network. */
export interface Surroundings {
  now(): number;
  /** The sandbox's own address, without a slash at the end. */
  origin(): string;
  readonly blobs: BlobStore;
  readonly windows: RateWindows;
}
