import { type DayTotal, totalsRow } from "../../../src/shared/ledger/totals-row.ts";
import type { Wallet } from "../../../src/shared/ledger/ledger.ts";
import { ledgerRow, type StoredEntry } from "../../../src/shared/ledger/wallet-row.ts";
import {
  latestCall,
  postStatus,
  legStatusOf,
  type Leg,
} from "../../../src/shared/publishing/leg.ts";
import type { PostWithLegs } from "../../../src/shared/publishing/post-store.ts";
import { firstCommentOf, type Post } from "../../../src/shared/publishing/post.ts";
import { postRecord } from "../../../src/shared/publishing/read/post-view.ts";
import { timeOfId } from "../../../src/shared/runtime/ids.ts";
import { unlessDamaged } from "../../../src/shared/runtime/storage/damaged-row.ts";
import type { Row } from "../../../src/shared/runtime/storage/row.ts";
import { TABLE_NAMES } from "../../../src/shared/runtime/storage/tables.ts";
import type { Event } from "../../../src/shared/events/events.ts";
import { commentText } from "./comments.ts";
import { isSilence, type Ask, type Change } from "./requests.ts";
import type { Simulation } from "./simulation.ts";

const LEG_TOKENS = 10;
const SCHEDULE_TOKENS = 2;
const END_EVENTS: ReadonlySet<unknown> = new Set([
  "post.succeeded",
  "post.partial",
  "post.failed",
  "post.canceled",
]);

/** Reported after a post's end. */
const REMOVAL_EVENTS: ReadonlySet<string> = new Set(["leg.removed", "leg.removal_failed"]);
const FOLLOWING_EVENTS: ReadonlySet<string> = new Set([
  ...REMOVAL_EVENTS,
  "comment.succeeded",
  "comment.failed",
]);

interface Told {
  readonly id: string;
  readonly type: string;
  readonly postId: string | null;
  readonly sequence: number;
  readonly legNetwork: string | undefined;
  readonly legError: string | undefined;
  /** The version of the post that the event shows. */
  readonly updatedAt: string | undefined;
}

/** A platform's money as its modules show it. */
interface Purse {
  readonly platformId: string;
  readonly ledger: readonly StoredEntry[];
  readonly wallet: Wallet;
  /** The number of the last entry that the totals count. */
  readonly counted: number;
  readonly totals: readonly { readonly day: string; readonly totals: readonly DayTotal[] }[];
}

/** A run as the rules see it: asked for, shown, received. */
interface Evidence {
  readonly simulation: Simulation;
  readonly posts: readonly PostWithLegs[];
  readonly events: readonly Told[];
  readonly purses: ReadonlyMap<string, Purse>;
  readonly open: readonly string[];
  readonly wrongLists: readonly string[];
}

async function purseOf({ world }: Simulation, platformId: string): Promise<Purse> {
  const { services } = world.observer;
  const totals = [];
  for await (const page of services.ledger.stores.ledger.totals(platformId, {}))
    totals.push(...page);
  return {
    platformId,
    ledger: await world.observer.ledger(platformId),
    wallet: await services.ledger.stores.ledger.readWallet(platformId),
    counted: (await services.ledger.stores.ledger.findMark(platformId)).mark.sequence,
    totals,
  };
}

function toTold({ id, type, postId, sequence, data }: Event): Told {
  const { leg, post } = data as {
    readonly post?: { readonly updatedAt?: string };
    readonly leg?: {
      readonly platform?: string;
      readonly error?: { readonly code?: string } | null;
    };
  };
  const legError = leg?.error?.code;
  const updatedAt = post?.updatedAt;
  const legNetwork = leg?.platform;
  return { id, type, postId, sequence: Number(sequence), legNetwork, legError, updatedAt };
}

const isOf = (types: readonly string[], { type }: StoredEntry) => types.includes(type);

/** The totals of a ledger's days are what its entries up to the mark add up to. */
function totalsViolations({ ledger, counted, totals }: Purse): string[] {
  const sums = new Map<string, number>();
  const add = (key: string, tokens: number) => sums.set(key, (sums.get(key) ?? 0) + tokens);
  for (const { day, totals: groups } of totals)
    for (const [applicationId, profileId, operation, tokens] of groups)
      add([day, applicationId ?? "", profileId ?? "", operation].join("|"), tokens);
  for (const entry of ledger) {
    if (entry.sequence > counted) break;
    if (!isOf(["credit", "debit", "settle"], entry)) continue;
    const { applicationId, profileId, operation, createdAt } = entry;
    const day = createdAt.slice(0, 10);
    add([day, applicationId ?? "", profileId ?? "", operation].join("|"), -entry.tokens);
  }
  return [...sums].flatMap(([key, left]) =>
    left === 0 ? [] : [`the totals of ${key} are off by ${left}`],
  );
}

/** Sum, numbers and chain of a ledger; what the wallet says; what open legs hold. */
function moneyViolations(
  { simulation, posts }: Evidence,
  { platformId, ledger, wallet }: Purse,
): string[] {
  const violations: string[] = [];
  let [sum, promised, count] = [0, 0, 0];
  for (const entry of ledger) {
    const { tokens, sequence, balanceAfter, reservedAfter } = entry;
    count += 1;
    if (isOf(["credit", "debit", "settle"], entry)) sum += tokens;
    if (isOf(["reserve", "settle", "release"], entry)) promised += tokens;
    if (sequence !== count) violations.push(`the ledger has a gap before ${count}`);
    if (balanceAfter !== sum || reservedAfter !== promised)
      violations.push(`entry ${count} does not add up`);
  }
  const { balance, reserved, sequence } = wallet;
  const held = posts
    .filter(({ post }) => post.platformId === platformId)
    .flatMap(({ legs }) => legs)
    .filter(({ reservation }) => reservation.state === "open")
    .reduce((total, { reservation }) => total + reservation.tokens, 0);
  const forgotten = simulation.world.history.forgottenDays(platformId, ledger);
  return [
    ...violations,
    ...broken(
      [sum !== balance, `the ledger's sum is ${sum}, the balance ${balance}`],
      [promised !== reserved, `${promised} are promised, ${reserved} reserved`],
      [count !== sequence, `${count} entries, the wallet says ${sequence}`],
      [held !== reserved, `legs hold ${held}, the wallet has ${reserved} reserved`],
      [reserved !== 0, `${reserved} tokens are reserved at rest`],
    ),
    ...forgotten.map((day) => `a wallet forgot what was spent on ${day}`),
  ];
}

/** The texts of the rules that are broken. */
function broken(...rules: readonly (readonly [isBroken: boolean, text: string])[]): string[] {
  return rules.flatMap(([isBroken, text]) => (isBroken ? [text] : []));
}

function retriesOf(ledger: readonly StoredEntry[]): number {
  return ledger.filter(
    ({ operation, type }) => operation === "posts.retry_leg" && type === "reserve",
  ).length;
}

function ledgerOfPost({ purses }: Evidence, { platformId, id }: Post): StoredEntry[] {
  return purses.get(platformId)?.ledger.filter(({ postId }) => postId === id) ?? [];
}

/** Charged once for what was published, and nothing for what was not. */
function priceViolations(ledger: readonly StoredEntry[], leg: Leg, what: string): string[] {
  const settled = ledger.filter(
    ({ type, network }) => type === "settle" && network === leg.network,
  );
  const charged = legStatusOf(leg) === "succeeded" ? 1 : 0;
  return broken(
    [settled.length !== charged, `${what} is ${legStatusOf(leg)}, charged ${settled.length} times`],
    [leg.tokensSettled !== charged * LEG_TOKENS, `${what} says it cost ${leg.tokensSettled}`],
    [settled.some(({ tokens }) => tokens !== -LEG_TOKENS), `${what} had another price`],
  );
}

/** The model has no files: a leg with one can't be published. */
function isAsDrafted(text: string, { draft }: Post, { network }: Leg): boolean {
  const own = draft.platformOptions[network]?.["text"] ?? draft.text;
  // Some networks trim.
  return typeof own === "string" && text.trim() === own.trim() && draft.mediaUrls.length === 0;
}

const isOfNetwork = (host: string, network: Leg["network"]) =>
  (host.includes("|") ? "mastodon" : "bluesky") === network;

/** How often the outcome of a leg was unknown. */
const doubtsOf = ({ events }: Evidence, post: Post, { network }: Leg) =>
  events.filter(
    ({ postId, legNetwork, legError, type }) =>
      postId === post.id &&
      legNetwork === network &&
      legError === "outcome_unknown" &&
      type === "leg.failed",
  ).length;

/** Published at most once, and exactly once when it says so; what failed for a known reason is not there. */
function legViolations(evidence: Evidence, { post }: PostWithLegs, leg: Leg): string[] {
  const what = `${leg.network} of ${post.requestId}`;
  const isOfLeg = (host: string) => isOfNetwork(host, leg.network);
  const seen = evidence.simulation.world.networks.visible.filter(
    ({ text, host }) => text.startsWith(`The text of ${post.requestId}.`) && isOfLeg(host),
  );
  const ledger = ledgerOfPost(evidence, post);
  const doubts = doubtsOf(evidence, post, leg);
  // A caller that retries what may be live already accepts that it is sent again.
  const most = 1 + Math.min(retriesOf(ledger), doubts);
  const isKnown = legStatusOf(leg) !== "succeeded" && doubts === 0;
  return [
    ...priceViolations(ledger, leg, what),
    ...broken(
      [seen.length > most, `${what} was published ${seen.length} times`],
      [seen.some(({ edits }) => edits > 0), `${what} was changed after it was out`],
      [
        seen.some((one) => !isAsDrafted(one.text, post, leg)),
        `${what} is not what was wanted last`,
      ],
      [post.status === "canceled" && seen.length > 0, `${what} was canceled and is there`],
      [legStatusOf(leg) === "succeeded" && seen.length === 0, `${what} succeeded and is not there`],
      [
        isKnown && seen.length > 0,
        `${what} ${legStatusOf(leg)} (${leg.calls[0].error?.code}) and is there`,
      ],
    ),
  ];
}

/** The price of being stored, and never out before its time. */
function scheduleViolations(ledger: readonly StoredEntry[], post: Post): string[] {
  const { draft, startedAt, requestId } = post;
  const what = `the post ${requestId}`;
  const stored = ledger.filter(({ operation }) => operation === "posts.schedule");
  const paid = stored.reduce((sum, { tokens }) => sum - tokens, 0);
  const price = draft.scheduleAt === null ? 0 : SCHEDULE_TOKENS;
  const isEarly = draft.scheduleAt !== null && startedAt !== null && startedAt < draft.scheduleAt;
  return broken(
    [paid !== price, `${what} cost ${paid} for being stored, not ${price}`],
    [isEarly, `${what} was published early`],
  );
}

/** What was reserved was charged or given back, for legs that the post has; nobody retried more than was asked. */
function reservationViolations(
  { simulation }: Evidence,
  { post, legs }: PostWithLegs,
  ledger: readonly StoredEntry[],
): string[] {
  const what = `the post ${post.requestId}`;
  const promised = ledger
    .filter((row) => isOf(["reserve", "settle", "release"], row))
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const networks = legs.map(({ network }) => network).sort();
  const ended = ledger.filter((row) => isOf(["settle", "release"], row));
  const asked = simulation.customers.changes.filter(
    ({ what, postId }) => what === "retry" && postId === post.id,
  );
  const done = asked.filter(({ answer }) => answer === "done").length;
  const most = asked.filter(({ answer }) => answer === "done" || isSilence(answer)).length;
  const retries = retriesOf(ledger);
  return broken(
    [promised !== 0, `${promised} tokens are left of what ${what} reserved`],
    [
      networks.join() !== post.draft.networks.toSorted().join(),
      `${what} has legs ${networks.join()}`,
    ],
    [
      ended.some(({ network }) => !legs.some((leg) => leg.network === network)),
      `${what} paid for a leg that it does not have`,
    ],
    [
      retries < done || retries > most,
      `${what} was retried ${retries} times, not ${done} to ${most}`,
    ],
  );
}

/** The post's state, its price for being stored, its time, and that its end was told once and last. */
function postViolations(evidence: Evidence, found: PostWithLegs): string[] {
  const { post, legs } = found;
  const what = `the post ${post.requestId}`;
  const wanted = post.status === "canceled" ? "canceled" : postStatus(legs);
  const ledger = ledgerOfPost(evidence, post);
  const retries = retriesOf(ledger);
  const own = evidence.events
    .filter(({ postId }) => postId === post.id)
    .toSorted((left, right) => left.sequence - right.sequence);
  const ends = own.filter(({ type }) => END_EVENTS.has(type)).length;
  const numbers = own.map(({ sequence }) => sequence);
  const last = own.findLast(({ type }) => !FOLLOWING_EVENTS.has(type))?.type;
  return [
    ...scheduleViolations(ledger, post),
    ...reservationViolations(evidence, found, ledger),
    ...broken(
      [post.status !== wanted, `${what} is ${post.status}, not ${wanted}`],
      // A retry of one leg while another is on its way gives the post no end of its own.
      [
        ends < 1 || ends > 1 + retries,
        `the end of ${what}, retried ${retries} times, was told ${ends} times`,
      ],
      [last !== `post.${post.status}`, `${what} is ${post.status}, told last was ${last}`],
      [
        numbers.some((sequence, index) => sequence !== index + 1),
        `the events of ${what} are numbered ${numbers.join()}`,
      ],
    ),
  ];
}

/** Every event reached the endpoint, always as the same bytes. */
function deliveryViolations({ simulation, events }: Evidence): string[] {
  const { received } = simulation.world.networks;
  return events.flatMap(({ id, type }) => {
    const calls = received.filter(({ webhookId }) => webhookId === id);
    const bodies = new Set(calls.map(({ body }) => body));
    if (!calls.some(({ isTaken }) => isTaken)) return [`${type} ${id} was not delivered`];
    return bodies.size > 1 ? [`${type} ${id} was delivered in ${bodies.size} versions`] : [];
  });
}

/** An earlier try of which nobody heard for sure may still be under way, and find tokens later. */
function wasRefused({ answers, isParallel }: Ask): boolean {
  return answers.at(-1) === "insufficient_tokens" && !isParallel && !answers.some(isSilence);
}

function chargeViolations({ purses }: Evidence, ask: Ask): string[] {
  const { key, answers, tenant } = ask;
  const ledger = purses.get(tenant.scope.platformId)?.ledger ?? [];
  const paid = ledger.filter(({ requestId }) => requestId === key).length;
  return broken(
    [paid > 1, `${key} was charged ${paid} times`],
    [answers.at(-1) === "paid" && paid === 0, `${key} was answered paid and was not`],
    [wasRefused(ask) && paid > 0, `${key} was refused and paid`],
  );
}

/** What a client was told holds: one post per key, a refusal means nothing was done, an answer that it was. */
function askViolations({ simulation, posts }: Evidence, ask: Ask): string[] {
  const { key, postIds, tenant } = ask;
  if (tenant.scope.profileId === simulation.customers.erased?.profileId)
    return broken([postIds.size > 1, `${key} was answered with ${postIds.size} posts`]);
  const own = posts.filter(({ post }) => post.requestId === key).map(({ post }) => post.id);
  return broken(
    [own.length > 1, `${key} stands for ${own.length} posts`],
    [postIds.size > 1, `${key} was answered with ${postIds.size} posts`],
    [
      [...postIds].some((postId) => !own.includes(postId)),
      `${key} was answered with a post that is not there`,
    ],
    [wasRefused(ask) && own.length > 0, `${key} was refused and accepted`],
  );
}

const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);

/** A value that a field of a post was to have, and when that was asked for and done. */
interface Wish {
  readonly value: unknown;
  readonly from: number;
  readonly until: number;
  readonly isDone: boolean;
}

const FIELDS = [
  "text",
  "platforms",
  "mediaUrls",
  "scheduleAt",
  "platformOptions",
  "metadata",
  "externalId",
] as const;

/** Refused for what the post was meanwhile: an earlier try of the same request may have come through. */
const mayBeDone = (answer: string) =>
  answer === "done" || answer === "invalid_state" || answer === "conflict" || isSilence(answer);

/** What a field may be at that time, which is not what was replaced before: the first draft, or a change. */
function allowed(
  field: (typeof FIELDS)[number],
  changes: readonly Change[],
  [from, until]: readonly [from: number, until: number],
): unknown[] {
  const draft = changes[0]?.draft;
  const first = field === "platforms" ? draft?.networks : draft?.[field];
  const wishes: Wish[] = [
    { value: first, from: -Infinity, until: -Infinity, isDone: true },
    ...changes
      .filter(({ patch, answer }) => field in patch && mayBeDone(answer))
      .map(({ patch, answer, ...when }) => ({
        value: patch[field],
        from: when.from,
        until: when.until,
        isDone: answer === "done",
      })),
  ];
  return wishes
    .filter((wish) => {
      const isReplaced = wishes.some(
        (other) => other.isDone && other.from > wish.until && other.until < from,
      );
      return wish.from <= until && !isReplaced;
    })
    .map(({ value }) => value);
}

/** What a change answered, and what a post is in the end, has each field as it was last wanted, and no other. */
function patchViolations(found: PostWithLegs, changes: readonly Change[]): string[] {
  const isAny = (values: readonly unknown[], value: unknown) =>
    values.some((one) => same(one, value));
  const last = postRecord(found);
  const patches = changes.filter(({ what }) => what === "patch");
  if (patches.length === 0) return [];
  const violations = FIELDS.filter(
    (field) => !isAny(allowed(field, patches, [Infinity, Infinity]), last[field]),
  ).map((field) => `a change of ${field} of ${last.requestId} was answered and lost, or undone`);
  for (const { answer, view, label, patch, from, until } of patches) {
    if (answer !== "done" || view === undefined) continue;
    for (const field of FIELDS) {
      const values = field in patch ? [patch[field]] : allowed(field, patches, [from, until]);
      if (!isAny(values, view[field]))
        violations.push(`${label} was answered with another ${field}`);
    }
    if (patch["scheduleAt"] === null) violations.push(`${label} took the time away`);
  }
  return violations;
}

/** Each change of a scheduled post is reported once, in order; none replaced a version that its client did not know. */
function versionViolations(
  { events }: Evidence,
  { post }: PostWithLegs,
  patches: readonly Change[],
): string[] {
  const told = events
    .filter(({ postId, type }) => postId === post.id && type === "post.updated")
    .toSorted((left, right) => left.sequence - right.sequence)
    .map(({ updatedAt = "" }) => updatedAt);
  const what = `the post ${post.requestId}`;
  const most = patches.filter(({ answer }) => mayBeDone(answer)).length;
  const done = patches.filter(({ answer }) => answer === "done");
  return [
    ...broken(
      [told.length > most, `${told.length} changes of ${what} were told, ${most} were asked for`],
      [
        told.some((at, index) => at <= (told[index - 1] ?? post.createdAt)),
        `the versions of ${what} that were told are ${told.join()}`,
      ],
    ),
    ...done.flatMap(({ label, view, expectedUpdatedAt: expected }) => {
      const made = view?.updatedAt ?? "";
      return broken(
        [!told.includes(made), `${label} was told to nobody`],
        [
          expected !== undefined && told.some((at) => at > expected && at < made),
          `${label} replaced a version that came after ${expected}`,
        ],
      );
    }),
  ];
}

/** What was answered as done is done for good. */
function changeViolations(evidence: Evidence, found: PostWithLegs): string[] {
  const { simulation } = evidence;
  const { post } = found;
  const changes = simulation.customers.changes.filter(({ postId }) => postId === post.id);
  const isCanceled = changes.some(({ what, answer }) => what === "cancel" && answer === "done");
  return [
    ...patchViolations(found, changes),
    ...versionViolations(
      evidence,
      found,
      changes.filter(({ what }) => what === "patch"),
    ),
    ...broken([
      isCanceled && post.status !== "canceled",
      `the cancel of ${post.requestId} was answered, it is ${post.status}`,
    ]),
  ];
}

/** Nothing is taken down that nobody wanted gone, all is that says so, and each removal ends once. */
function removalViolations(evidence: Evidence, { post, legs }: PostWithLegs): string[] {
  const { simulation, events } = evidence;
  const { customers, world } = simulation;
  const asked = customers.changes.filter(
    ({ what, postId }) => what === "remove" && postId === post.id,
  );
  const most = asked.filter(({ answer }) => answer === "done" || isSilence(answer)).length;
  return legs.flatMap((leg) => {
    const what = `${leg.network} of ${post.requestId}`;
    const seen = world.networks.visible.filter(
      ({ text, host }) =>
        text.startsWith(`The text of ${post.requestId}.`) && isOfNetwork(host, leg.network),
    );
    const told = events.filter(
      ({ postId, legNetwork, type }) =>
        postId === post.id && legNetwork === leg.network && REMOVAL_EVENTS.has(type),
    );
    const removal = latestCall(leg, "remove");
    const left = seen.filter(({ removedAt }) => removedAt === undefined).length;
    // After a retry of what was live there may be two, of which the leg knows the last one.
    const others = Math.min(retriesOf(ledgerOfPost(evidence, post)), doubtsOf(evidence, post, leg));
    return broken(
      [
        most === 0 && seen.some(({ removedAt }) => removedAt !== undefined),
        `${what} was taken down`,
      ],
      [removal?.state === "done" && left > others, `${what} is removed and is there`],
      [told.length > most, `removals of ${what} ended ${told.length} times, of ${most} asked for`],
      [removal !== undefined && told.length === 0, `the removal of ${what} was not reported`],
    );
  });
}

/** A first comment is written once, below its own post, after that has ended, and what is said of it is so. */
function commentViolations(evidence: Evidence, { post, legs }: PostWithLegs): string[] {
  const { simulation, events } = evidence;
  return legs.flatMap((leg) => {
    const what = `the comment of ${post.requestId} on ${leg.network}`;
    const text = commentText(post.requestId, leg.network);
    const seen = simulation.world.networks.comments.filter((one) => one.text === text);
    const call = latestCall(leg, "comment");
    const isWanted = firstCommentOf(post.draft, leg.network) !== null;
    const isPublished = legStatusOf(leg) === "succeeded";
    const told = events.filter(
      ({ postId, legNetwork, type }) =>
        postId === post.id && legNetwork === leg.network && type.startsWith("comment."),
    );
    const { earlyComments } = simulation.world.history;
    return broken(
      [earlyComments.has(text), `${what} was written before its post had ended`],
      [seen.length > 1, `${what} was written ${seen.length} times`],
      [!isPublished && seen.length > 0, `${what} was written, and the leg is ${legStatusOf(leg)}`],
      [isPublished && isWanted && call === undefined, `${what} was forgotten`],
      [call?.state === "done" && seen.length === 0, `${what} is done and is not there`],
      [call?.state === "failed" && seen.length > 0, `${what} has failed and is there`],
      [
        isPublished && seen.some((one) => one.post !== leg.calls[0].result?.externalId),
        `${what} is below another post`,
      ],
      [told.length !== (call === undefined ? 0 : 1), `${what} ended ${told.length} times`],
    );
  });
}

/** Nobody is told about tokens that are missing while they are there all the time. */
function refusalViolations({ simulation, purses }: Evidence): string[] {
  const { customers, world } = simulation;
  return customers.requests.refusals.flatMap(({ key, platformId, required, from, until }) => {
    const ledger = purses.get(platformId)?.ledger ?? [];
    const least = world.history.leastAvailable(platformId, ledger, [from, until]);
    return broken([
      least >= required,
      `${key} was refused ${required} tokens, there were ${least}`,
    ]);
  });
}

/** Posts that were canceled were asked to be. */
function cancelViolations(
  { simulation: { customers } }: Evidence,
  { id, status, requestId }: Post,
): string[] {
  const isAsked = customers.changes.some(
    ({ what, postId, answer }) =>
      what === "cancel" && postId === id && (answer === "done" || isSilence(answer)),
  );
  return broken([
    status === "canceled" && !isAsked,
    `the post ${requestId} was canceled by nobody`,
  ]);
}

/** Nothing of one platform lies with another, under whatever key. */
function tenantViolations({ simulation, posts }: Evidence): string[] {
  const places = simulation.tenants.map(
    ({ scope }) => `${scope.platformId}|${scope.applicationId}|${scope.profileId}`,
  );
  return posts.flatMap(({ post }) => {
    const place = `${post.platformId}|${post.applicationId}|${post.profileId}`;
    return places.includes(place) ? [] : [`the post ${post.requestId} lies elsewhere`];
  });
}

/** What was paid stays when a profile is erased, known by its columns. */
const isPaid = (row: Row) =>
  [ledgerRow, totalsRow].some((codec) => unlessDamaged(() => codec.decode(row)) !== undefined);
/** Wakes without work go once their time has come, and name ids alone. */
const ERASED_TABLES = TABLE_NAMES.filter((name) => name !== "wake");
/** What has begun when an erasure is asked for may still be published. */
const ERASING_MS = 10 * 60_000;

/** Nothing of a profile is left once it was erased, but for what was paid; nothing is published for it any more. */
function erasureViolations({ simulation }: Evidence): string[] {
  const { customers, world, tenants } = simulation;
  const { erased } = customers;
  if (erased === undefined) return [];
  const { profileId, askedUntil } = erased;
  const left: string[] = [];
  for (const table of ERASED_TABLES)
    for (const { partitionKey, rowKey, properties } of world.model.rows(table)) {
      const values = [partitionKey, rowKey, ...Object.values(properties)];
      const isOf = values.some((value) => typeof value === "string" && value.includes(profileId));
      if (isOf && !isPaid({ rowKey, ...properties }))
        left.push(`${table} ${rowKey} is left of what was erased`);
    }
  const name = tenants.find(({ scope }) => scope.profileId === profileId)?.name ?? "";
  const own = customers.asks.filter(({ tenant }) => tenant.name === name);
  const late = world.networks.visible.filter(
    ({ text, at }) =>
      at > askedUntil + ERASING_MS && own.some(({ key }) => text.startsWith(`The text of ${key}.`)),
  );
  return [...left, ...late.map(({ text }) => `${text} was published after its profile was erased`)];
}

const CALLS_AT_ONCE = 4;

/** No endpoint gets more calls at once than it is promised, however many processes there are. */
function crowdViolations({ simulation }: Evidence): string[] {
  const { mostAtOnce } = simulation.world.networks;
  return mostAtOnce > CALLS_AT_ONCE ? [`an endpoint got ${mostAtOnce} calls at once`] : [];
}

/** What no worker can read comes before people. */
function poisonViolations({ simulation }: Evidence): string[] {
  const { customers, hosts } = simulation;
  const lines = hosts.told.filter(({ message }) => message === "poison message");
  const hints = lines.map(({ fields }) => String(fields["hint"]));
  return customers.foreign
    .filter((name) => !hints.some((hint) => hint.includes(name)))
    .map((name) => `nobody was told about the message ${name}`);
}

/** Seconds within which an event is delivered where nothing goes wrong, clocks that differ included. */
const PROMPT_MS = 45_000;

/** Where no call fails everybody is served, and at once, and nothing is taken down twice. */
function quietViolations({ simulation, events, posts }: Evidence): string[] {
  if (!simulation.isQuiet) return [];
  const { customers, world } = simulation;
  const late = events.filter(({ id }) => {
    const taken = world.networks.received.find(
      ({ webhookId, isTaken }) => webhookId === id && isTaken,
    );
    return taken !== undefined && taken.at - timeOfId("event", id) > PROMPT_MS;
  });
  const removedTwice = posts.flatMap(({ post, legs }) =>
    legs
      .filter(
        ({ calls: [{ result }] }) =>
          world.networks.deletions.filter((id) => id === result?.externalId).length > 1,
      )
      .map(({ network }) => `${network} of ${post.requestId} was taken down twice`),
  );
  return [
    ...late.map(({ type, id }) => `${type} ${id} was delivered late`),
    ...removedTwice,
    ...customers.requests.silences.map((key) => `${key} got no answer`),
  ];
}

type Rule = (evidence: Evidence) => readonly string[];

const ofEach =
  <Item>(
    items: (evidence: Evidence) => Iterable<Item>,
    rule: (evidence: Evidence, item: Item) => string[],
  ): Rule =>
  (evidence) =>
    [...items(evidence)].flatMap((item) => rule(evidence, item));
const ofPosts = (rule: (evidence: Evidence, found: PostWithLegs) => string[]) =>
  ofEach(({ posts }) => posts, rule);
const ofPurses = (rule: (evidence: Evidence, purse: Purse) => string[]) =>
  ofEach(({ purses }) => purses.values(), rule);
const ofAsks = (kind: Ask["kind"], rule: (evidence: Evidence, ask: Ask) => string[]) =>
  ofEach(({ simulation }) => simulation.customers.asks.filter((ask) => ask.kind === kind), rule);

/** What holds at the end of every run, by the names that `docs/dev/simulation.md` explains. */
export const RULES: Readonly<Record<string, Rule>> = {
  moments: ({ simulation }) => simulation.world.history.violations,
  defects: ({ simulation }) => simulation.hosts.defects,
  rest: ({ open }) => open,
  money: ofPurses(moneyViolations),
  totals: ofPurses((_, purse) => totalsViolations(purse)),
  refusals: refusalViolations,
  charges: ofAsks("charge", chargeViolations),
  keys: ofAsks("post", askViolations),
  posts: ofPosts(postViolations),
  legs: ofPosts((evidence, found) =>
    found.legs.flatMap((leg) => legViolations(evidence, found, leg)),
  ),
  changes: ofPosts(changeViolations),
  removals: ofPosts(removalViolations),
  comments: ofPosts(commentViolations),
  lists: ({ wrongLists }) => wrongLists,
  cancels: ofPosts((evidence, { post }) => cancelViolations(evidence, post)),
  deliveries: deliveryViolations,
  endpoints: crowdViolations,
  erasure: erasureViolations,
  tenants: tenantViolations,
  messages: poisonViolations,
  quiet: quietViolations,
};

/** What a run broke of the rules; nothing when all held. */
export async function violationsOf(simulation: Simulation): Promise<string[]> {
  const { observer } = simulation.world;
  const purses = new Map<string, Purse>();
  for (const id of observer.platformIds) purses.set(id, await purseOf(simulation, id));
  const [posts, events] = [await observer.posts(), (await observer.events()).map(toTold)];
  const open = await observer.openWork();
  const wrongLists: string[] = [];
  for (const id of observer.platformIds) wrongLists.push(...(await observer.wrongLists(id)));
  const evidence: Evidence = { simulation, posts, events, purses, open, wrongLists };
  return Object.entries(RULES).flatMap(([name, rule]) =>
    rule(evidence).map((violation) => `${name}: ${violation}`),
  );
}
