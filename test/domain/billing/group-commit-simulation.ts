import { vi } from "vitest";
import { chargeTogether, creditWallet } from "../../../src/shared/billing/charge.ts";
import type { CoreOperation, CorePartition } from "../../../src/shared/billing/core-operation.ts";
import { GroupCommit } from "../../../src/shared/billing/group-commit.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import type { NetworkName } from "../../../src/shared/networks/lookup.ts";
import { acceptOperation } from "../../../src/shared/publishing/accept/accept.ts";
import {
  idempotencyRowKey,
  toAccepted,
  type Accepted,
} from "../../../src/shared/publishing/idempotency-store.ts";
import type { Leg } from "../../../src/shared/publishing/leg.ts";
import { type Post, refOf } from "../../../src/shared/publishing/post.ts";
import { settleOperation } from "../../../src/shared/publishing/publish/settle.ts";
import type { Services } from "../../../src/shared/compose.ts";
import { legOf, NOW, postOf } from "../posts/fixtures.ts";
import { ACCESS_VERSION, MemoryPartition, type Fault, type Weather } from "./memory-partition.ts";

const FAULTS: readonly Fault[] = ["error_before", "error_after", "late", "false_412", "refused"];
const FAULT_RATES = [0, 0.1, 0.3, 0.5];
const NETWORKS: readonly NetworkName[] = ["bluesky", "mastodon"];
const SUBMIT_WITHIN_MS = 400;
/** Twelve tries with their waits, and the calls in between, are over long before. */
const PATIENCE_MS = 120_000;
const STEP_MS = 500;
const LATE_MS_MAX = 3_000;

/** Repeatable random numbers in [0, 1). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function weatherOf(random: () => number, faultRate: number): Weather {
  return {
    delay: () => Math.floor(random() * 20),
    transactionFault: () =>
      random() < faultRate ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined,
    lateBy: () => Math.floor(random() * LATE_MS_MAX),
    readFails: () => random() < faultRate / 20,
  };
}

/** One request to one process and what it was told. */
export interface Submission {
  /** What it would leave in the ledger. */
  readonly label: string;
  readonly instance: string;
  readonly tokens: number;
  readonly submittedAt: number;
  answeredAt: number;
  /** `ok`, the code of an error, or `waiting`. */
  outcome: string;
  answer: unknown;
}

export interface Instance {
  readonly name: string;
  readonly partition: CorePartition;
  readonly commit: GroupCommit;
  /** Only what charging and crediting ask for. */
  readonly services: Services;
}

export function instanceOf(partition: MemoryPartition, name: string, weather: Weather): Instance {
  const view = partition.seenBy(name, weather, () => NOW);
  return through({ name, partition: view }, new GroupCommit(view));
}

/** The process with another way to its partition. */
export function through(
  { name, partition }: Pick<Instance, "name" | "partition">,
  commit: GroupCommit,
): Instance {
  const wallets = {
    commit: <T>(_: string, operation: CoreOperation<T>) => commit.submit(operation),
  };
  // Safe: `charge.ts` reaches for the wallets alone.
  return { name, partition, commit, services: { wallets } as unknown as Services };
}

export function chargeOf(id: string, tokens: number, kind = "charge") {
  return {
    operationId: `${kind} ${id}`,
    operation: "posts.validate",
    tokens,
    applicationId: null,
    profileId: null,
    postId: null,
    network: null,
    actor: { kind: "system", id: "test" },
    requestId: id,
  } as const;
}

/** A new post under the key: every request for one key makes a post of its own, of which one is accepted. */
export function acceptanceOf(key: string): { post: Post; operation: CoreOperation<Accepted> } {
  const post = postOf({ requestId: key });
  const legs = NETWORKS.map((network) => legOf({ network }));
  const operation = acceptOperation({
    idempotencyKey: key,
    found: { post, legs },
    accepted: { fingerprint: key, postId: post.id, profileId: post.profileId, httpStatus: 202 },
    pace: { legsPerSecond: 10, workCheckSeconds: 30 },
    accessVersion: ACCESS_VERSION,
  });
  return { post, operation };
}

/** As a request does it: looked up first, accepted when the key was not found. */
async function acceptOnce(
  { partition, commit }: Instance,
  key: string,
  operation: CoreOperation<Accepted>,
): Promise<Accepted> {
  const earlier = await partition.find(idempotencyRowKey(key));
  return earlier === undefined ? commit.submit(operation) : toAccepted(earlier.row);
}

function settlementOf(post: Post, leg: Leg, isPublished: boolean): CoreOperation<boolean> {
  const published = { kind: "published", networkPostId: "1", url: null } as const;
  const failure = { code: "network_unavailable", networkCode: null } as const;
  return settleOperation({
    ref: refOf(post),
    post,
    leg,
    end: isPublished ? { kind: "published", published } : { kind: "failed", failure },
  });
}

/** Several processes on one platform under a seeded weather, in a time of its own. */
export class Simulation {
  readonly partition = new MemoryPartition();
  readonly submissions: Submission[] = [];
  /** The accepted posts by key. */
  readonly posts = new Map<string, Post>();
  readonly faultRate: number;
  readonly #random: () => number;
  readonly #instances: readonly Instance[];

  constructor(seed: number, instances = 3) {
    this.#random = randomOf(seed);
    this.faultRate = FAULT_RATES[seed % FAULT_RATES.length] ?? 0;
    const weather = weatherOf(this.#random, this.faultRate);
    this.#instances = Array.from({ length: instances }, (_, index) =>
      instanceOf(this.partition, `instance ${index}`, weather),
    );
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  async #submit(
    what: { readonly label: string; readonly tokens: number },
    instance: Instance,
    run: () => Promise<unknown>,
  ): Promise<Submission> {
    const submission: Submission = {
      ...what,
      instance: instance.name,
      submittedAt: this.partition.stamp(),
      answeredAt: Infinity,
      outcome: "waiting",
      answer: undefined,
    };
    this.submissions.push(submission);
    try {
      submission.answer = await run();
      submission.outcome = "ok";
    } catch (error) {
      submission.outcome = error instanceof AppError ? error.code : String(error);
    }
    submission.answeredAt = this.partition.stamp();
    return submission;
  }

  #instance(): Instance {
    const instance = this.#instances[this.#below(this.#instances.length)];
    if (instance === undefined) throw new Error("a simulation needs an instance");
    return instance;
  }

  async #one(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#below(SUBMIT_WITHIN_MS)));
    const instance = this.#instance();
    const { services } = instance;
    const id = `operation ${this.#below(14)}`;
    switch (this.#below(5)) {
      case 0: {
        const tokens = 25;
        await this.#submit({ label: `credit|${id}|`, tokens }, instance, () =>
          creditWallet(services, "plt_test", chargeOf(id, tokens, "credit")),
        );
        return;
      }
      case 1:
      case 2: {
        const tokens = 7;
        await this.#submit({ label: `debit|${id}|`, tokens }, instance, () =>
          chargeTogether(services, "plt_test", [chargeOf(id, tokens)]),
        );
        return;
      }
      default:
        await this.#post(id, instance);
    }
  }

  async #post(key: string, instance: Instance): Promise<void> {
    const { post, operation } = acceptanceOf(key);
    const label = `reserve|${key}|`;
    const accepted = await this.#submit({ label, tokens: 20 }, instance, () =>
      acceptOnce(instance, key, operation),
    );
    if (accepted.outcome !== "ok") return;
    const { postId } = accepted.answer as Accepted;
    const found = this.posts.get(key) ?? { ...post, id: postId };
    this.posts.set(key, found);
    if (postId !== found.id) throw new Error("one key stands for two posts");
    const isPublished = this.#random() < 0.5;
    await Promise.all(
      NETWORKS.map(async (network) => {
        const worker = this.#instance();
        await this.#submit({ label: `end|${key}|${network}`, tokens: 0 }, worker, () =>
          worker.commit.submit(settlementOf(found, legOf({ network }), isPublished)),
        );
      }),
    );
  }

  /** @throws Error when a request is still waiting after longer than any may */
  async run(operations: number): Promise<void> {
    const random = vi.spyOn(Math, "random").mockImplementation(this.#random);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      let open = operations;
      const one = () => this.#one().finally(() => (open -= 1));
      const all = Promise.allSettled(Array.from({ length: operations }, one));
      for (let ms = 0; ms < PATIENCE_MS; ms += STEP_MS) {
        await vi.advanceTimersByTimeAsync(STEP_MS);
        if (open === 0) break;
      }
      if (open > 0) throw new Error(`${open} requests wait for ever`);
      for (const result of await all) if (result.status === "rejected") throw result.reason;
      await vi.advanceTimersByTimeAsync(LATE_MS_MAX + 1_000);
    } finally {
      vi.useRealTimers();
      random.mockRestore();
    }
  }
}
