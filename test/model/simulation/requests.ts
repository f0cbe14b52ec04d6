import { AppError } from "../../../src/shared/runtime/errors.ts";
import type { Draft } from "../../../src/shared/publishing/post.ts";
import type { PostView } from "../../../src/shared/publishing/read/post-view.ts";
import type { Host, Hosts } from "./hosts.ts";
import type { Nature } from "../machine.ts";
import type { Tenant } from "./tenants.ts";

const PATIENCE_MS = 30_000;
const TRIES_MAX = 10;
/** Calls that a process may still make which dies over a request. */
export const LAST_CALLS_MAX = 14;
/** Answers after which a client asks no more. */
const REFUSALS: ReadonlySet<string> = new Set([
  "insufficient_tokens",
  // Repeated so late that its time has come.
  "validation_failed",
  "not_publishable",
  // The answer for a profile that was erased.
  "not_found",
]);

/** One thing that a client wants, and everything that it was told. */
export interface Ask {
  readonly kind: "post" | "charge";
  readonly key: string;
  readonly tenant: Tenant;
  readonly draft: Draft | undefined;
  /** Asked by several at once: what one of them is told says nothing about the others. */
  readonly isParallel: boolean;
  /** Post ids, codes of errors, or `no_answer`. */
  readonly answers: string[];
  readonly postIds: Set<string>;
}

/** As it comes over the wire. */
export type Patch = Readonly<Record<string, unknown>>;

/** What a client wanted done with a post of its own, asked once, and what it was told. */
export interface Change {
  readonly what: "patch" | "cancel" | "retry" | "remove";
  readonly key: string;
  readonly label: string;
  readonly postId: string;
  readonly patch: Patch;
  /** The version that it is to replace, and no other. */
  expectedUpdatedAt: string | undefined;
  /** The post as it was accepted. */
  readonly draft: Draft;
  /** When it was asked for, and when it was done; until then, or if that is not known, it may be done at any time. */
  from: number;
  until: number;
  /** `done`, the code of an error, or `no_answer`. */
  answer: string;
  view: PostView | undefined;
}

/** Somebody was told that the wallet is short. */
export interface Refusal {
  readonly key: string;
  readonly platformId: string;
  readonly required: number;
  readonly from: number;
  readonly until: number;
}

type Answer<T> = { readonly value: T } | { readonly code: string; readonly required?: number };

/** Told in the course of a write whose outcome is not known. */
export const isSilence = (code: string) => code === "no_answer" || code === "service_unavailable";

/** Who asks, how often at most, and who hears each answer. */
interface Asker {
  readonly key: string;
  readonly platformId: string;
  readonly tries?: number;
  tell(answer: string): void;
}

/** Requests to the processes, as clients make them. */
export class Requests {
  readonly refusals: Refusal[] = [];
  /** Who got no answer to go by. */
  readonly silences: string[] = [];
  readonly #nature: Nature;
  readonly #hosts: Hosts;

  constructor(nature: Nature, hosts: Hosts) {
    this.#nature = nature;
    this.#hosts = hosts;
  }

  /** One request to some process: what it answered, the code of its error, or `no_answer`. */
  async ask<T>(
    key: string,
    platformId: string,
    request: (to: Host) => Promise<T>,
    at?: Host,
  ): Promise<Answer<T>> {
    const { random, time, rates } = this.#nature;
    const host = at ?? (await this.#hosts.any());
    const { machine } = host;
    if (random.chance(rates.doom))
      machine.crashAt = Math.min(
        machine.crashAt,
        machine.calls + random.between(1, LAST_CALLS_MAX),
      );
    const from = time.now;
    const answered = async (): Promise<Answer<T>> => {
      try {
        return { value: await request(host) };
      } catch (error) {
        if (!(error instanceof AppError)) {
          this.#hosts.note("request", error);
          return { code: "internal_error" };
        }
        return { code: error.code, required: Number(error.details["required"]) };
      }
    };
    const silence = time.wait(PATIENCE_MS).then(() => "silence" as const);
    const answer = await Promise.race([machine.died, silence, answered()]);
    const isSilent = typeof answer === "string";
    if (isSilent || ("code" in answer && isSilence(answer.code))) this.silences.push(key);
    if (isSilent) return { code: "no_answer" };
    if ("code" in answer && answer.code === "insufficient_tokens") {
      const { required = 0 } = answer;
      this.refusals.push({ key, platformId, required, from, until: time.now });
    }
    return answer;
  }

  /** Asks again and again until there is an answer to go by. */
  async insist<T>(
    ask: Asker,
    request: (to: Host) => Promise<T>,
    first?: Host,
  ): Promise<T | undefined> {
    const { key, platformId, tries: triesMax = TRIES_MAX } = ask;
    const { random, time } = this.#nature;
    let at = first;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const answer = await this.ask(key, platformId, request, at);
      at = undefined;
      if ("value" in answer) {
        ask.tell(String(answer.value));
        return answer.value;
      }
      ask.tell(answer.code);
      if (REFUSALS.has(answer.code)) return undefined;
      if (!isSilence(answer.code))
        this.#hosts.note("request", new Error(`${key} was answered ${answer.code}`));
      await time.wait(random.between(50, 6_000));
    }
    return undefined;
  }
}
