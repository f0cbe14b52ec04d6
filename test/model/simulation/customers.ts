import { OutdatedAccess } from "../../../src/shared/partition/partition.ts";
import { chargeTogether } from "../../../src/shared/ledger/ledger.ts";
import type { ProfileScope } from "../../../src/shared/callers/scope.ts";
import { removeConnection } from "../../../src/shared/connections/remove-connection.ts";
import { validationFailed } from "../../../src/shared/runtime/errors.ts";
import { newId } from "../../../src/shared/runtime/ids.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import {
  cancelPost,
  updatePost,
} from "../../../src/shared/publishing/schedule/change-scheduled.ts";
import { createPost } from "../../../src/shared/publishing/accept/create-post.ts";
import { legStatusOf } from "../../../src/shared/publishing/leg.ts";
import type { Draft } from "../../../src/shared/publishing/post.ts";
import type { PostView } from "../../../src/shared/publishing/read/post-view.ts";
import { removePost } from "../../../src/shared/publishing/reopen/remove-post.ts";
import { retryPost } from "../../../src/shared/publishing/reopen/retry-post.ts";
import { UpdatePostBody } from "../../../src/shared/publishing/accept/schema.ts";
import type { Services } from "../../../src/shared/compose.ts";
import { requestErasure } from "../../../src/shared/erasure/request-erasure.ts";
import { foreignMessage, type Host, type Hosts, type World } from "./hosts.ts";
import type { Message } from "../queue-model.ts";
import type { Random } from "../random.ts";
import { Requests, type Ask, type Change, type Patch } from "./requests.ts";
import { commentText } from "./comments.ts";
import { creditTokens, ERASABLE, linkAccount, requireActive, type Tenant } from "./tenants.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { CALM } from "../weather.ts";
import { aCharge } from "../../setup/a-charge.ts";

export const ASKED_WITHIN_MS = 90_000;
const SEQUEL_WITHIN_MS = 400_000;
const NETWORKS: readonly NetworkName[] = ["bluesky", "mastodon"];
/** Longer than Bluesky takes, not than Mastodon does. */
const LONG = ` ${"and so on ".repeat(32)}`;
const COUNTED = {
  patch: "patches",
  cancel: "cancels",
  retry: "retries",
  remove: "removals",
} as const;
const CROWD = 3;
const FLOOD = 500;
const FLOOD_MS = 10_000;
/** Of posts that there is nothing to retry of. */
const WELL: ReadonlySet<string | undefined> = new Set(["succeeded", "canceled"]);
const WAIT_MS = 10_000;
const WAITS_MAX = 60;
/** More than anybody has. */
const MUCH = 1_000_000;
const MEDIA = ["https://media.example.com/1.jpg"];

/** A post as it is asked for. */
interface Submission {
  readonly ask: Ask;
  readonly draft: Draft;
  readonly scope: ProfileScope;
}

/** A post as its owner plans it. */
interface Plan {
  readonly key: string;
  readonly scope: ProfileScope;
  readonly postId: string;
  readonly draft: Draft;
  /** Times at which it may start. */
  readonly times: number[];
}

/** `at`: the process that is asked first. */
interface Spending {
  readonly tokens: number;
  readonly afterMs: number;
  readonly at?: Host;
}

const refOf = ({ scope: { platformId, profileId }, postId }: Plan) => ({
  platformId,
  profileId,
  postId,
});

const CREATE_TRIES_MAX = 6;
const CREATE_PAUSE_MS = 5;

/** The version of a platform as a request finds it that nobody kept anything for. */
async function accessVersionOf(
  { ledger: { partitions } }: Services,
  platformId: string,
): Promise<string> {
  return (
    (await partitions.readAccessVersion(platformId)) || (await partitions.raiseAccess(platformId))
  );
}

const iso = (at: number) => new Date(at).toISOString();

async function debit(
  { services }: Host,
  platformId: string,
  operationId: string,
  tokens: number,
): Promise<void> {
  const own = { actor: { kind: "system", id: "simulation" }, requestId: operationId } as const;
  await chargeTogether(services.ledger, platformId, [aCharge(operationId, tokens, own)]);
}

/** Everything that customers want in a run, and what they were told. */
export class Customers {
  readonly asks: Ask[] = [];
  readonly changes: Change[] = [];
  readonly requests: Requests;
  /** Names of messages that no worker can read. */
  readonly foreign: string[] = [];
  /** The profile that was erased, and until when that was asked for. */
  erased: { readonly profileId: string; readonly askedUntil: number } | undefined;
  /** Whether customers of this run write first comments, and take down what is published. */
  followsUp = false;
  /** Who is still busy. */
  active = 0;
  readonly #world: World;
  readonly #hosts: Hosts;
  readonly #tenants: () => readonly Tenant[];
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #plans = new Map<string, Plan>();
  #patches = 0;

  constructor(world: World, hosts: Hosts, tenants: () => readonly Tenant[]) {
    this.#world = world;
    this.#hosts = hosts;
    this.#tenants = tenants;
    this.#random = world.nature.random;
    this.#time = world.nature.time;
    this.requests = new Requests(world.nature, hosts);
    hosts.onMessage = (message) => this.#startle(message);
  }

  start(): void {
    const random = this.#random;
    const posts = random.between(2, 5);
    for (let index = 0; index < posts; index += 1) this.#startPost(`post-key-${index}`);
    const charges = random.below(4);
    for (let index = 0; index < charges; index += 1) {
      const tenant = random.pick(this.#tenants());
      this.#startCharge(`charge ${index}`, tenant, {
        tokens: 1,
        afterMs: random.below(ASKED_WITHIN_MS),
      });
    }
    if (random.chance(0.5)) {
      const { platformId } = random.pick(this.#tenants()).scope;
      this.#client(
        () => this.#credit(platformId, "later credit", 30),
        random.below(ASKED_WITHIN_MS),
      );
    }
    if (random.chance(0.35)) this.#startRelinking();
    if (random.chance(0.3)) this.#startErrand(0);
  }

  #client(run: () => Promise<unknown>, afterMs: number): void {
    this.active += 1;
    const go = async () => {
      try {
        await run();
      } catch (error) {
        this.#hosts.note("client", error);
      }
      this.active -= 1;
    };
    this.#time.set(() => void go(), afterMs);
  }

  /** Milliseconds from now to about that time, before which most things of interest happen. */
  #near(at: number): number {
    return Math.max(0, at - this.#time.now + this.#random.between(-2_000, 1_500));
  }

  /** At the very moment at which something begins with a post, its owner has other ideas. */
  #startle({ message }: Message): void {
    const random = this.#random;
    const { kind, postId } = message as { readonly kind: string; readonly postId?: string };
    const plan = this.#plans.get(postId ?? "");
    if (plan === undefined || this.#world.nature.rates === CALM) return;
    if (kind === "start" && random.chance(0.3)) this.#startPatch(plan, random.below(120));
    if (kind === "start" && random.chance(0.1)) this.#startCancel(plan, random.below(120));
    if (kind === "legs" && random.chance(0.05)) this.#startRetry(plan, random.below(300));
  }

  async #credit(platformId: string, reference: string, tokens: number, at?: Host): Promise<void> {
    const ask = { key: reference, platformId, tell: () => undefined };
    const credit = async ({ services }: Host) => {
      await creditTokens(services, platformId, reference, tokens);
      return "credited";
    };
    await this.requests.insist(ask, credit, at);
  }

  /** Asked for at that time from now. */
  #draftOf(key: string, { links }: Tenant, askedMs: number): Draft {
    const random = this.#random;
    const own = links.map(([network]) => network);
    const networks = random.chance(0.6) ? own : [random.pick(own)];
    const isScheduled = random.chance(0.5);
    const aheadMs = random.chance(0.3)
      ? askedMs + random.between(10_500, 20_000)
      : ASKED_WITHIN_MS + random.between(15_000, 150_000);
    const dueAt = this.#time.now + aheadMs;
    return {
      text: `The text of ${key}.${random.chance(0.1) ? LONG : ""}`,
      networks,
      mediaUrls: [],
      altTexts: [],
      platformOptions: this.followsUp ? this.#commentsOf(key, networks) : {},
      scheduleAt: isScheduled ? iso(dueAt) : null,
      externalId: key,
      metadata: {},
    };
  }

  #commentsOf(key: string, networks: readonly NetworkName[]): Draft["platformOptions"] {
    const commented = networks.filter(() => this.#random.chance(0.6));
    return Object.fromEntries(
      commented.map((network) => [network, { firstComment: commentText(key, network) }]),
    );
  }

  #startPost(key: string): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const twins = random.chance(0.3) ? random.between(2, 3) : 1;
    const at = random.below(ASKED_WITHIN_MS);
    const draft = this.#draftOf(key, tenant, at);
    const isPatient = random.chance(0.8);
    const submission = this.#submission(key, tenant, draft, twins > 1);
    for (let twin = 0; twin < twins; twin += 1)
      this.#client(
        async () => {
          const postId = await this.#submit(submission, isPatient);
          if (postId !== undefined && twin === 0) this.#startSequels(submission, postId);
        },
        at + random.below(50),
      );
  }

  /** Stored for a time that is over when the process that stores it goes on; its client has gone away. */
  startBelated(key: string): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const at = random.below(ASKED_WITHIN_MS);
    const scheduleAt = iso(this.#time.now + at + random.between(10_500, 20_000));
    const draft = { ...this.#draftOf(key, tenant, at), scheduleAt };
    const submission = this.#submission(key, tenant, draft, false);
    this.#client(async () => {
      const host = await this.#hosts.any();
      host.machine.freeze(random.between(1, 3), random.between(200_000, 300_000));
      await this.#submit(submission, false, host);
    }, at);
  }

  #submission(key: string, tenant: Tenant, draft: Draft, isParallel: boolean): Submission {
    const told = { answers: [], postIds: new Set<string>() };
    const ask: Ask = { kind: "post", key, tenant, draft, isParallel, ...told };
    this.asks.push(ask);
    return { ask, draft, scope: { ...tenant.scope, requestId: key } };
  }

  async #submit(
    { ask, draft, scope }: Submission,
    isPatient: boolean,
    at?: Host,
  ): Promise<string | undefined> {
    const { key } = ask;
    const submit = (to: Host) => this.#create(to, scope, key, draft);
    const tell = (answer: string) => void ask.answers.push(answer);
    const asker = { key, platformId: scope.platformId, tell, ...(isPatient ? {} : { tries: 1 }) };
    const postId = await this.requests.insist(asker, submit, at);
    if (postId !== undefined) ask.postIds.add(postId);
    return postId;
  }

  /** What clients do with their post later on, and messages that stray. */
  #startSequels({ ask, draft, scope }: Submission, postId: string): void {
    const random = this.#random;
    const times = draft.scheduleAt === null ? [] : [Date.parse(draft.scheduleAt)];
    const plan = { key: ask.key, scope, postId, draft, times };
    this.#plans.set(postId, plan);
    const isScheduled = plan.times.length > 0;
    const patches = isScheduled ? random.pick([0, 1, 1, 2, 3]) : random.pick([0, 0, 0, 0, 1]);
    for (let count = 0; count < patches; count += 1) this.#startPatches(plan);
    if (random.chance(isScheduled ? 0.2 : 0.05))
      this.#startCancel(plan, this.#momentOf(plan, SEQUEL_WITHIN_MS));
    if (random.chance(0.6)) this.#startRetry(plan, random.below(SEQUEL_WITHIN_MS));
    if (random.chance(0.3)) this.#startStray(plan);
    if (this.followsUp && random.chance(0.8)) this.#startRemovals(plan);
  }

  /** Mostly of what is published, some of them asked for twice. */
  #startRemovals(plan: Plan): void {
    const random = this.#random;
    const { scope, postId, key } = plan;
    const networks = random.chance(0.6) ? undefined : [random.pick(NETWORKS)];
    const remove = async (afterMs: number) => {
      await this.#time.wait(afterMs);
      const change = this.#note("remove", plan, {}, `a removal of ${key}`);
      await this.#tell(change, scope, ({ services }) =>
        removePost(services.publishing, scope, { postId, networks }),
      );
    };
    this.#client(async () => {
      for (let waits = random.chance(0.8) ? 0 : WAITS_MAX; waits < WAITS_MAX; waits += 1) {
        const found = await this.#world.observer.services.publishing.stores.posts.find(refOf(plan));
        if (found?.legs.some((leg) => legStatusOf(leg) === "succeeded") === true) break;
        await this.#time.wait(WAIT_MS);
      }
      const times = random.pick([1, 1, 2, 3]);
      await Promise.all(Array.from({ length: times }, () => remove(random.below(9_000))));
    }, random.below(60_000));
  }

  /** Mostly about the time at which the post may start. */
  #momentOf({ times }: Plan, withinMs: number): number {
    const random = this.#random;
    return times.length > 0 && random.chance(0.6)
      ? this.#near(random.pick(times))
      : random.below(withinMs);
  }

  /** One, or two at the same time. */
  #startPatches(plan: Plan): void {
    const random = this.#random;
    const moment = this.#momentOf(plan, 150_000);
    const times = random.chance(0.3) ? 2 : 1;
    for (let count = 0; count < times; count += 1)
      this.#startPatch(plan, moment + random.below(40));
  }

  #startPatch(plan: Plan, afterMs: number): void {
    const { key, scope, postId } = plan;
    this.#client(async () => {
      this.#patches += 1;
      const label = `${key}, patch ${this.#patches}`;
      const patch = this.#patchOf(plan, label);
      const change = this.#note("patch", plan, patch, label);
      if (this.#random.chance(0.4)) {
        const { posts } = this.#world.observer.services.publishing.stores;
        const found = await posts.find(refOf(plan));
        change.expectedUpdatedAt = found?.post.updatedAt;
      }
      const { expectedUpdatedAt } = change;
      await this.#tell(change, scope, ({ services }) => {
        const parsed = UpdatePostBody().safeParse({ ...patch, expectedUpdatedAt });
        if (!parsed.success) throw validationFailed([]);
        return updatePost(services.publishing, scope, { postId, change: parsed.data });
      });
    }, afterMs);
  }

  #patchOf(plan: Plan, label: string): Patch {
    let patch: Patch = {};
    for (let parts = this.#random.pick([1, 1, 2, 3]); parts > 0; parts -= 1)
      patch = { ...patch, ...this.#partOf(plan, label) };
    return patch;
  }

  /** One field of a change. */
  #partOf({ key, times }: Plan, label: string): Patch {
    const random = this.#random;
    const field = random.pick([
      "text",
      "platforms",
      "platforms",
      "mediaUrls",
      "scheduleAt",
      "scheduleAt",
      "platformOptions",
      "metadata",
      "externalId",
    ]);
    switch (field) {
      case "text":
        return { text: `The text of ${key}. (${label})${random.chance(0.2) ? LONG : ""}` };
      case "platforms":
        return {
          platforms: random.pick([NETWORKS, NETWORKS, NETWORKS.slice(0, 1), NETWORKS.slice(1)]),
        };
      case "mediaUrls":
        return { mediaUrls: random.chance(0.3) ? MEDIA : [] };
      case "scheduleAt":
        return { scheduleAt: this.#newTime(times) };
      case "platformOptions": {
        const network = random.pick(NETWORKS);
        const own = { [network]: { text: `The text of ${key}. (${label}, ${network})` } };
        return { platformOptions: random.chance(0.7) ? own : {} };
      }
      case "metadata":
        return { metadata: { of: label } };
      default:
        return { externalId: label };
    }
  }

  /** Later, earlier, back again, at once, in the past, or never. */
  #newTime(times: number[]): string | null {
    const random = this.#random;
    const { now } = this.#time;
    const first = times[0] ?? now;
    const time = random.pick([
      now + random.between(10_500, 20_000),
      now + random.between(10_500, 60_000),
      first + random.between(5_000, 90_000),
      first,
      now,
      now - 60_000,
      null,
    ]);
    if (time === null) return null;
    if (time > now) times.push(time);
    return iso(time);
  }

  #note(what: Change["what"], { key, postId, draft }: Plan, patch: Patch, label: string): Change {
    const change: Change = {
      what,
      key,
      label,
      postId,
      patch,
      expectedUpdatedAt: undefined,
      draft,
      from: Infinity,
      until: Infinity,
      answer: "no_answer",
      view: undefined,
    };
    this.changes.push(change);
    return change;
  }

  /** Asked once: it has no key under which a repeat would be safe to count. */
  async #tell(
    change: Change,
    scope: ProfileScope,
    request: (to: Host) => Promise<PostView>,
  ): Promise<void> {
    change.from = this.#time.now;
    const answer = await this.requests.ask(change.label, scope.platformId, async (to) => {
      await requireActive(to.services, scope);
      return request(to);
    });
    if ("code" in answer) change.answer = answer.code;
    else {
      change.until = this.#time.now;
      change.answer = "done";
      this.#world.nature.counts[COUNTED[change.what]] += 1;
      change.view = answer.value;
    }
  }

  #startCancel(plan: Plan, afterMs: number): void {
    const { scope, postId, key } = plan;
    this.#client(async () => {
      const change = this.#note("cancel", plan, {}, `the cancel of ${key}`);
      await this.#tell(change, scope, ({ services }) =>
        cancelPost(services.publishing, scope, postId),
      );
    }, afterMs);
  }

  /** At that time, whatever the post is then; or soon after the first of its legs failed. */
  #startRetry(plan: Plan, afterMs: number): void {
    const random = this.#random;
    const isWaiting = random.chance(0.7);
    this.#client(
      async () => {
        for (let waits = isWaiting ? 0 : WAITS_MAX; waits < WAITS_MAX; waits += 1) {
          const found = await this.#world.observer.services.publishing.stores.posts.find(
            refOf(plan),
          );
          const hasStarted = found !== undefined && found.post.status !== "scheduled";
          if (WELL.has(found?.post.status)) return;
          if (hasStarted && found.legs.some((leg) => legStatusOf(leg) === "failed")) break;
          await this.#time.wait(WAIT_MS);
        }
        const times = random.pick([1, 1, 2]);
        for (let count = 0; count < times; count += 1) this.#retry(plan, random.below(3_000));
      },
      isWaiting ? 0 : afterMs,
    );
  }

  #retry(plan: Plan, afterMs: number): void {
    const random = this.#random;
    const { scope, postId, key } = plan;
    const networks = random.chance(0.7)
      ? undefined
      : random.pick([NETWORKS.slice(0, 1), NETWORKS.slice(1), NETWORKS]);
    this.#client(async () => {
      const change = this.#note("retry", plan, {}, `a retry of ${key}`);
      await this.#tell(change, scope, ({ services }) =>
        retryPost(services.publishing, scope, { postId, networks }),
      );
    }, afterMs);
  }

  /** Hints may be lost, doubled, early or late, also those of a build that is not this one. */
  #startStray(plan: Plan): void {
    const { scope, draft } = plan;
    const { platformId } = scope;
    const ref = refOf(plan);
    const random = this.#random;
    const isFire = random.chance(0.5);
    this.#client(
      async () => {
        await this.requests.ask("a stray hint", platformId, async ({ services }) => {
          const { publishQueue } = services.publishing.stores;
          this.#world.nature.counts.strayHints += 1;
          try {
            if (isFire)
              await publishQueue.hint({ kind: "start", ...ref, dueAt: draft.scheduleAt ?? iso(0) });
            else await publishQueue.hint({ kind: "legs", ...ref, networks: [...NETWORKS] });
          } catch (error) {
            this.#hosts.note("a stray hint", error);
          }
        });
      },
      this.#momentOf(plan, SEQUEL_WITHIN_MS),
    );
  }

  /** A profile is erased, at whatever it has under way. */
  startErasure(): void {
    const { random, time, counts } = this.#world.nature;
    const tenant = this.#tenants().find(({ name }) => name === ERASABLE);
    if (tenant === undefined) throw new Error("nobody to erase");
    const { platformId, applicationId, profileId } = tenant.scope;
    const caller = {
      kind: "session",
      platformId,
      userId: "usr_simulation",
      sessionId: null,
      sessionVersion: 1,
      expiresAt: "2027-01-01T00:00:00.000Z",
      confirmedUntil: null,
      role: "owner",
    } as const;
    const owner = { platformId, applicationId, requestId: "an erasure", ip: "", caller };
    const erase = async ({ services }: Host) => {
      await requestErasure(services.erasure, owner, { profileId });
      return "erased";
    };
    this.#client(
      async () => {
        counts.erasures += 1;
        this.erased = { profileId, askedUntil: Infinity };
        // Until it is heard that the erasure was asked for: what is left is judged by that.
        const ask = { key: "an erasure", platformId, tries: 100, tell: () => undefined };
        await this.requests.insist(ask, erase);
        this.erased = { profileId, askedUntil: time.now };
      },
      random.below(ASKED_WITHIN_MS * 2),
    );
  }

  /** Long after, clients send again what was accepted then; what was wrong with the answers. */
  async repeatKeys(): Promise<string[]> {
    const violations: string[] = [];
    const repeat = async ({ key, draft, tenant, postIds }: Ask) => {
      const [postId] = postIds;
      if (draft === undefined || postId === undefined) return;
      if (tenant.scope.profileId === this.erased?.profileId) return;
      const scope = { ...tenant.scope, requestId: key };
      const ask = { key, platformId: scope.platformId, tell: () => undefined };
      const again = await this.requests.insist(ask, (to) => this.#create(to, scope, key, draft));
      if (again !== postId) violations.push(`${key} stood for another post after months`);
    };
    let isOver = false;
    void Promise.all(this.asks.map(repeat)).finally(() => (isOver = true));
    await this.#time.pass(this.#time.now + WAIT_MS * WAITS_MAX, () => isOver);
    return violations;
  }

  /** Creates a post on rows that are read for it, again when something was taken away meanwhile, as the route does. */
  async #create(
    to: Host,
    scope: ProfileScope,
    idempotencyKey: string,
    draft: Draft,
  ): Promise<string> {
    for (let tries = 1; ; tries += 1)
      try {
        return await this.#createOnce(to, scope, idempotencyKey, draft);
      } catch (error) {
        if (!(error instanceof OutdatedAccess) || tries === CREATE_TRIES_MAX) throw error;
        await this.#time.wait(tries * CREATE_PAUSE_MS);
      }
  }

  async #createOnce(
    { services }: Host,
    scope: ProfileScope,
    idempotencyKey: string,
    draft: Draft,
  ): Promise<string> {
    const accessVersion = await accessVersionOf(services, scope.platformId);
    await requireActive(services, scope);
    const connections = await services.connections.stores.connections.listOfProfile(scope);
    const publishing = { ...scope, connections, accessVersion, areCached: false };
    return (await createPost(services.publishing, publishing, { idempotencyKey, draft })).post.id;
  }

  /** Somebody sends what no worker can read. */
  startForeign(): void {
    const { random } = this.#world.nature;
    const name = `foreign ${random.below(1_000_000)}`;
    this.foreign.push(name);
    const queue = random.pick(["publishing", "webhooks"]);
    const message = { queue, message: foreignMessage(name), deliveries: 0 };
    this.#time.set(() => this.#world.queue.put(message, 0), random.below(ASKED_WITHIN_MS));
  }

  /** An account is unlinked, and linked again, or another one in its place, while posts are on their way. */
  #startRelinking(): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const { scope, name, links } = tenant;
    const link = random.pick(links);
    const { platformId } = scope;
    const isUnlinked = random.chance(0.7);
    const isOther = random.chance(0.3);
    this.#client(
      async () => {
        let known: string | undefined;
        const unlink = async ({ services }: Host) => {
          known = (
            await services.connections.stores.connections.find({ ...scope, network: link[0] })
          )?.id;
          if (isUnlinked && known !== undefined)
            await removeConnection(services.connections, scope, known);
        };
        await this.requests.ask("unlinking", platformId, unlink);
        if (isUnlinked && random.chance(0.2)) return;
        await this.#time.wait(random.below(60_000));
        const id = isOther ? undefined : known;
        const relink = async ({ services }: Host) => {
          const by = {
            name: isOther ? `${name}2` : name,
            link,
            id: id ?? newId("connection", services.clock.now()),
          };
          await requireActive(services, scope);
          await linkAccount(services, scope, by);
          this.#world.nature.counts.relinks += 1;
          return "linked";
        };
        await this.requests.insist({ key: "linking", platformId, tell: () => undefined }, relink);
      },
      random.below(ASKED_WITHIN_MS * 3),
    );
  }

  #startCharge(key: string, tenant: Tenant, { tokens, afterMs, at }: Spending): void {
    const told = { answers: [] as string[], postIds: new Set<string>() };
    const ask: Ask = { kind: "charge", key, tenant, draft: undefined, isParallel: false, ...told };
    this.asks.push(ask);
    const { platformId } = tenant.scope;
    const tell = (answer: string) => void ask.answers.push(answer);
    const pay = async (to: Host) => {
      await debit(to, platformId, key, tokens);
      return "paid";
    };
    this.#client(() => this.requests.insist({ key, platformId, tell }, pay, at), afterMs);
  }

  /**
   * Tokens arrive at the moment at which they are spent, at one process, which writes both together if it can. Nobody
   * else is there, so that what one of them is told depends on the other alone.
   */
  startCrowd(index: number, atMs: number): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const { platformId } = tenant.scope;
    this.#client(async () => {
      const at = await this.#hosts.any();
      const available = this.#world.history.available(platformId);
      const credit = this.#credit(platformId, `credit ${index}`, 20, at);
      for (let charge = 0; charge < CROWD; charge += 1)
        this.#startCharge(`crowded charge ${index}.${charge}`, tenant, {
          tokens: available + random.between(1, 6),
          afterMs: random.below(3_500),
          at,
        });
      await credit;
    }, atMs);
  }

  /** One operation that storage never takes, in the midst of others that it takes. */
  startMisfit(): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const { platformId } = tenant.scope;
    this.#client(async () => {
      const at = await this.#hosts.any();
      await this.#credit(platformId, "misfit", 20, at);
      for (let charge = 0; charge < CROWD; charge += 1)
        this.#startCharge(`charge beside a misfit ${charge}`, tenant, {
          tokens: 1,
          afterMs: 1,
          at,
        });
      await this.#time.wait(1);
      const { partitions } = at.services.ledger;
      const row = { rowKey: "O|misfit", text: "x".repeat(40_000) };
      try {
        await partitions.commit(platformId, {
          id: "misfit",
          rowKeys: [],
          decide: () => ({
            kind: "write",
            writes: [{ kind: "create", row }],
            answer: undefined,
          }),
        });
      } catch {
        // As it should.
      }
    }, random.below(ASKED_WITHIN_MS));
  }

  /** Very many posts at once, all for one account. */
  startFlood(): void {
    const tenant = this.#tenants()[0];
    if (tenant === undefined) throw new Error("nobody to flood");
    const { platformId } = tenant.scope;
    this.#client(async () => {
      await this.#credit(platformId, "flood", FLOOD * 20);
      for (let index = 0; index < FLOOD; index += 1) {
        const key = `flood-key-${index}`;
        const draft = { ...this.#draftOf(key, tenant, 0), scheduleAt: null };
        const submission = this.#submission(
          key,
          tenant,
          { ...draft, networks: ["mastodon"] },
          false,
        );
        this.#client(() => this.#submit(submission, true), this.#random.below(FLOOD_MS));
      }
    }, 0);
  }

  /** Tokens arrive at one process, and are spent at another one that has seen the wallet a moment before. */
  #startErrand(index: number): void {
    const random = this.#random;
    const tenant = random.pick(this.#tenants());
    const { platformId } = tenant.scope;
    this.#client(async () => {
      const [bank, shop] = [await this.#hosts.any(), await this.#hosts.any()];
      const look = (to: Host) => debit(to, platformId, `a look ${index}`, MUCH);
      await this.requests.ask("a look", platformId, look, shop);
      const available = this.#world.history.available(platformId);
      await this.#credit(platformId, `errand ${index}`, 20, bank);
      this.#startCharge(`errand's charge ${index}`, tenant, {
        tokens: available + 5,
        afterMs: 0,
        at: shop,
      });
    }, random.below(ASKED_WITHIN_MS));
  }
}
