import { totalsRow } from "../../src/shared/billing/wallet-row.ts";
import { isEnded, postStatus, type Leg } from "../../src/shared/publishing/leg.ts";
import type { Draft, Post } from "../../src/shared/publishing/post.ts";
import { toLeg, toPost } from "../../src/shared/publishing/post-row.ts";
import { timeOfId } from "../../src/shared/runtime/ids.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import { TABLE_NAMES } from "../../src/shared/runtime/storage/tables.ts";
import { toRow, type Version } from "./history.ts";
import { isSilence, type Ask, type Change } from "./requests.ts";
import type { Simulation } from "./simulation.ts";
import type { TableModel } from "../model/table-model.ts";

const LEG_TOKENS = 10;
const SCHEDULE_TOKENS = 2;
const END_EVENTS: ReadonlySet<unknown> = new Set([
  "post.succeeded",
  "post.partial",
  "post.failed",
  "post.canceled",
]);

interface FoundPost {
  readonly post: Post;
  readonly legs: readonly Leg[];
}

interface Told {
  readonly id: string;
  readonly type: string;
  readonly postId: string;
  readonly sequence: number;
  readonly legNetwork: string | undefined;
  readonly legError: string | undefined;
}

function postsOf(model: TableModel): FoundPost[] {
  const posts: { post: Post; legs: Leg[] }[] = [];
  for (const found of model.rows("core", "P|")) {
    if (found.rowKey.split("|").length === 4)
      posts.push({ post: toPost(found.partitionKey, toRow(found)), legs: [] });
    else posts.at(-1)?.legs.push(toLeg(toRow(found)));
  }
  return posts;
}

/** What keeps a run from being at rest. */
export function openWork(model: TableModel): string[] {
  const open: string[] = [];
  for (const { rowKey } of model.rows("core", "X|")) open.push(`open work ${rowKey}`);
  for (const { rowKey } of model.rows("core", "E|"))
    open.push(`event ${rowKey} was not fanned out`);
  for (const { post, legs } of postsOf(model)) {
    if (post.status === "scheduled" || post.status === "processing")
      open.push(`the post ${post.requestId} is ${post.status}`);
    for (const leg of legs)
      if (!isEnded(leg)) open.push(`${leg.network} of ${post.requestId} is ${leg.status}`);
  }
  for (const { rowKey } of model.rows("erasures")) open.push(`${rowKey} is being erased`);
  for (const { rowKey, properties } of model.rows("deliveries", "D|"))
    if (properties["status"] === "pending") open.push(`the delivery ${rowKey} is pending`);
  return open;
}

function ledgerOf(model: TableModel, platformId: string): Row[] {
  const rows: Row[] = [];
  for (const found of model.rows("core", "L|"))
    if (found.partitionKey === platformId) rows.push(toRow(found));
  return rows.sort((left, right) => Number(left["sequence"]) - Number(right["sequence"]));
}

const numberOf = (row: Row, name: string) => Number(row[name] ?? 0);
const isOf = (types: readonly string[], { type }: Row) => types.includes(String(type));

/** The totals of a ledger's days are what its entries up to the mark add up to. */
function totalsViolations(model: TableModel, platformId: string): string[] {
  const sums = new Map<string, number>();
  const add = (key: string, tokens: number) => sums.set(key, (sums.get(key) ?? 0) + tokens);
  const own = <Found extends { readonly partitionKey: string }>(rows: Iterable<Found>) =>
    [...rows].filter(({ partitionKey }) => partitionKey === platformId);
  const [mark] = own(model.rows("core", "R"));
  for (const found of own(model.rows("core", "T|"))) {
    const { day, totals } = totalsRow.decode(toRow(found));
    for (const [applicationId, profileId, operation, tokens] of totals)
      add([day, applicationId ?? "", profileId ?? "", operation].join("|"), tokens);
  }
  for (const entry of ledgerOf(model, platformId)) {
    if (Number(entry["sequence"]) > Number(mark?.properties["sequence"] ?? 0)) break;
    if (!isOf(["credit", "debit", "settle"], entry)) continue;
    const day = String(entry["createdAt"]).slice(0, 10);
    const key = [day, entry["applicationId"], entry["profileId"], entry["operation"]].join("|");
    add(key, -Number(entry["tokens"]));
  }
  return [...sums].flatMap(([key, left]) =>
    left === 0 ? [] : [`the totals of ${key} are off by ${left}`],
  );
}

/** Sum, numbers and chain of a ledger; what the wallet says; what open legs hold. */
function moneyViolations(model: TableModel, platformId: string): string[] {
  const violations: string[] = [];
  const wallet = toRow(model.find("core", platformId, "W"));
  const balance = numberOf(wallet, "balance");
  const reserved = numberOf(wallet, "reserved");
  const sequence = numberOf(wallet, "sequence");
  let [sum, promised, count] = [0, 0, 0];
  for (const entry of ledgerOf(model, platformId)) {
    count += 1;
    const tokens = Number(entry["tokens"]);
    if (isOf(["credit", "debit", "settle"], entry)) sum += tokens;
    if (isOf(["reserve", "settle", "release"], entry)) promised += tokens;
    if (entry["sequence"] !== count) violations.push(`the ledger has a gap before ${count}`);
    if (entry["balanceAfter"] !== sum || entry["reservedAfter"] !== promised)
      violations.push(`entry ${count} does not add up`);
  }
  if (sum !== balance) violations.push(`the ledger's sum is ${sum}, the balance ${balance}`);
  if (promised !== reserved) violations.push(`${promised} are promised, ${reserved} reserved`);
  if (count !== sequence) violations.push(`${count} entries, the wallet says ${sequence}`);
  const held = postsOf(model)
    .filter(({ post }) => post.platformId === platformId)
    .flatMap(({ legs }) => legs)
    .filter(({ reservation }) => reservation.state === "open")
    .reduce((total, { reservation }) => total + reservation.tokens, 0);
  if (held !== reserved) violations.push(`legs hold ${held}, the wallet has ${reserved} reserved`);
  if (reserved !== 0) violations.push(`${reserved} tokens are reserved at rest`);
  return violations;
}

function eventsOf(model: TableModel): Told[] {
  const events: Told[] = [];
  for (const { properties, rowKey } of model.rows("events")) {
    const text = Object.keys(properties)
      .filter((name) => /^data\d+$/.test(name))
      .map((name) => String(properties[name]))
      .join("");
    const data = JSON.parse(text) as {
      leg?: { platform?: string; error?: { code?: string } | null };
    };
    events.push({
      id: rowKey,
      type: String(properties["type"]),
      postId: String(properties["postId"]),
      sequence: Number(properties["sequence"]),
      legNetwork: data.leg?.platform,
      legError: data.leg?.error?.code,
    });
  }
  return events;
}

/** The texts of the rules that are broken. */
function broken(...rules: readonly (readonly [isBroken: boolean, text: string])[]): string[] {
  return rules.flatMap(([isBroken, text]) => (isBroken ? [text] : []));
}

function retriesOf(ledger: readonly Row[]): number {
  const isRetry = (row: Row) => row["operation"] === "posts.retry_leg" && row["type"] === "reserve";
  return ledger.filter(isRetry).length;
}

function ledgerOfPost({ world }: Simulation, { platformId, id }: Post): Row[] {
  return ledgerOf(world.model, platformId).filter((row) => row["postId"] === id);
}

/** Charged once for what went out, and nothing for what did not. */
function priceViolations(ledger: readonly Row[], leg: Leg, what: string): string[] {
  const settled = ledger.filter(
    (row) => row["type"] === "settle" && row["network"] === leg.network,
  );
  const charged = leg.status === "succeeded" ? 1 : 0;
  return broken(
    [settled.length !== charged, `${what} is ${leg.status}, charged ${settled.length} times`],
    [leg.tokensCharged !== charged * LEG_TOKENS, `${what} says it cost ${leg.tokensCharged}`],
    [settled.some(({ tokens }) => tokens !== -LEG_TOKENS), `${what} had another price`],
  );
}

/** The model has no files: a leg with one can't go out. */
function isAsDrafted(text: string, { draft }: Post, { network }: Leg): boolean {
  const own = draft.platformOptions[network]?.["text"] ?? draft.text;
  // Some networks trim.
  return typeof own === "string" && text.trim() === own.trim() && draft.mediaUrls.length === 0;
}

/** Published at most once, and exactly once when it says so; what failed for a known reason is not there. */
function legViolations(
  simulation: Simulation,
  { post }: FoundPost,
  leg: Leg,
  events: readonly Told[],
): string[] {
  const what = `${leg.network} of ${post.requestId}`;
  const isOfLeg = (host: string) => (host.includes("|") ? "mastodon" : "bluesky") === leg.network;
  const seen = simulation.world.networks.visible.filter(
    ({ text, host }) => text.startsWith(`The text of ${post.requestId}.`) && isOfLeg(host),
  );
  const ledger = ledgerOfPost(simulation, post);
  const doubts = events.filter(
    ({ postId, legNetwork, legError }) =>
      postId === post.id && legNetwork === leg.network && legError === "outcome_unknown",
  ).length;
  // Whoever retries what may be live already accepts that it is sent again.
  const most = 1 + Math.min(retriesOf(ledger), doubts);
  const isKnown = leg.status !== "succeeded" && doubts === 0;
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
      [leg.status === "succeeded" && seen.length === 0, `${what} succeeded and is not there`],
      [isKnown && seen.length > 0, `${what} ${leg.status} (${leg.error?.code}) and is there`],
    ),
  ];
}

/** The price of being stored, and never out before its time. */
function scheduleViolations(ledger: readonly Row[], post: Post): string[] {
  const { draft, startedAt, requestId } = post;
  const what = `the post ${requestId}`;
  const stored = ledger.filter((row) => row["operation"] === "posts.schedule");
  const paid = stored.reduce((sum, row) => sum - numberOf(row, "tokens"), 0);
  const price = draft.scheduleAt === null ? 0 : SCHEDULE_TOKENS;
  const isEarly = draft.scheduleAt !== null && startedAt !== null && startedAt < draft.scheduleAt;
  return broken(
    [paid !== price, `${what} cost ${paid} for being stored, not ${price}`],
    [isEarly, `${what} was published early`],
  );
}

/** What was reserved was charged or given back, for legs that the post has; nobody retried more than was asked. */
function reservationViolations(
  simulation: Simulation,
  { post, legs }: FoundPost,
  ledger: readonly Row[],
): string[] {
  const what = `the post ${post.requestId}`;
  const promised = ledger
    .filter((row) => isOf(["reserve", "settle", "release"], row))
    .reduce((sum, row) => sum + numberOf(row, "tokens"), 0);
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
function postViolations(
  simulation: Simulation,
  { post, legs }: FoundPost,
  events: readonly Told[],
): string[] {
  const what = `the post ${post.requestId}`;
  const wanted = post.status === "canceled" ? "canceled" : postStatus(legs);
  const ledger = ledgerOfPost(simulation, post);
  const retries = retriesOf(ledger);
  const own = events
    .filter(({ postId }) => postId === post.id)
    .toSorted((left, right) => left.sequence - right.sequence);
  const ends = own.filter(({ type }) => END_EVENTS.has(type)).length;
  const numbers = own.map(({ sequence }) => sequence);
  const last = own.at(-1)?.type;
  return [
    ...scheduleViolations(ledger, post),
    ...reservationViolations(simulation, { post, legs }, ledger),
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
function deliveryViolations({ world }: Simulation, events: readonly Told[]): string[] {
  const { received } = world.networks;
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

function chargeViolations({ world }: Simulation, ask: Ask): string[] {
  const { key, answers, tenant } = ask;
  const ledger = ledgerOf(world.model, tenant.scope.platformId);
  const paid = ledger.filter((row) => row["requestId"] === key).length;
  return broken(
    [paid > 1, `${key} was charged ${paid} times`],
    [answers.at(-1) === "paid" && paid === 0, `${key} was answered paid and was not`],
    [wasRefused(ask) && paid > 0, `${key} was refused and paid`],
  );
}

/** What a client was told holds: one post per key, a refusal means nothing was done, an answer that it was. */
function askViolations({ customers }: Simulation, ask: Ask, posts: readonly FoundPost[]): string[] {
  const { key, postIds, tenant } = ask;
  if (tenant.scope.profileId === customers.erased?.profileId)
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

/** As it comes over the wire. */
const fieldsOf = ({ networks, ...rest }: Draft): Readonly<Record<string, unknown>> => ({
  ...rest,
  platforms: networks,
});

/** A change that was answered is what was stored, with the fields that it did not name as they were before. */
function patchViolations(versions: readonly Version[], change: Change): string[] {
  const { label, patch, view } = change;
  const wanted = Object.entries(patch);
  const isStored = ({ draft, updatedAt }: Version) =>
    updatedAt === view?.updatedAt &&
    Object.entries(fieldsOf(draft)).every(([name, value]) => same(value, Reflect.get(view, name)));
  const index = versions.findIndex(isStored);
  const [before, after] = [versions[index - 1], versions[index]];
  if (before === undefined || after === undefined) return [`${label} was answered and not stored`];
  const [was, is] = [fieldsOf(before.draft), fieldsOf(after.draft)];
  return broken(
    [wanted.some(([name, value]) => !same(is[name], value)), `${label} was answered and lost`],
    [
      Object.keys(is).some((name) => !(name in patch) && !same(is[name], was[name])),
      `${label} undid another change`,
    ],
  );
}

/** Words that no other change has. */
function markOf({ patch }: Change): string | undefined {
  const { text, externalId, metadata } = patch;
  const mark = text ?? externalId ?? metadata;
  return mark === undefined ? undefined : JSON.stringify(mark);
}

/** What was answered as done is done for good; what was refused did nothing. */
function changeViolations({ world }: Simulation, change: Change): string[] {
  const { what, label, answer, postId, patch } = change;
  const versions = world.history.versions(postId);
  const last = versions.at(-1);
  if (what === "patch" && answer === "done") {
    const isBad = patch["scheduleAt"] === null;
    return [
      ...broken([isBad, `${label} took the time away`]),
      ...patchViolations(versions, change),
    ];
  }
  if (what === "cancel" && answer === "done")
    return broken([last?.status !== "canceled", `${label} was answered, it is ${last?.status}`]);
  const mark = what === "patch" && !isSilence(answer) ? markOf(change) : undefined;
  if (mark === undefined) return [];
  const kept = versions.filter(({ draft }) => JSON.stringify(draft).includes(mark));
  // One that others changed again may have been stored before: whoever asked is told to read it.
  return broken([
    kept.length === 1 && kept[0] === last,
    `${label} was answered ${answer} and done`,
  ]);
}

/** Nobody is told of tokens that are missing while they are there all the time. */
function refusalViolations({ customers, world }: Simulation): string[] {
  return customers.requests.refusals.flatMap(({ key, platformId, required, from, until }) => {
    const least = world.history.leastAvailable(platformId, from, until);
    return broken([
      least >= required,
      `${key} was refused ${required} tokens, there were ${least}`,
    ]);
  });
}

/** Posts that were canceled were asked to be. */
function cancelViolations({ customers }: Simulation, { id, status, requestId }: Post): string[] {
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
function tenantViolations({ tenants }: Simulation, posts: readonly FoundPost[]): string[] {
  const places = tenants.map(
    ({ scope }) => `${scope.platformId}|${scope.applicationId}|${scope.profileId}`,
  );
  return posts.flatMap(({ post }) => {
    const place = `${post.platformId}|${post.applicationId}|${post.profileId}`;
    return places.includes(place) ? [] : [`the post ${post.requestId} lies elsewhere`];
  });
}

/** Rows of core that stay when a profile is erased: what was paid. */
const PAID = /^[LT]\|/;
/** Rows of due work without work go once their time has come, and name ids alone. */
const ERASED_TABLES = TABLE_NAMES.filter((name) => name !== "due");
/** What has begun when an erasure is asked for may still go out. */
const ERASING_MS = 10 * 60_000;

/** Nothing of a profile is left once it was erased, but for what was paid; nothing is published for it any more. */
function erasureViolations({ customers, world, tenants }: Simulation): string[] {
  const { erased } = customers;
  if (erased === undefined) return [];
  const { profileId, askedUntil } = erased;
  const left: string[] = [];
  for (const table of ERASED_TABLES)
    for (const { partitionKey, rowKey, properties } of world.model.rows(table)) {
      const isOf = partitionKey === profileId || rowKey.includes(profileId);
      if (table === "core" && PAID.test(rowKey)) continue;
      if (isOf || Object.values(properties).includes(profileId))
        left.push(`${table} ${rowKey} is left of what was erased`);
    }
  const name = tenants.find(({ scope }) => scope.profileId === profileId)?.name ?? "";
  const own = customers.asks.filter(({ tenant }) => tenant.name === name);
  const late = world.networks.visible.filter(
    ({ text, at }) =>
      at > askedUntil + ERASING_MS && own.some(({ key }) => text.startsWith(`The text of ${key}.`)),
  );
  return [...left, ...late.map(({ text }) => `${text} went out after its profile was erased`)];
}

const CALLS_AT_ONCE = 4;

/** No endpoint gets more calls at once than it is promised, however many processes there are. */
function crowdViolations({ world }: Simulation): string[] {
  const { mostAtOnce } = world.networks;
  return mostAtOnce > CALLS_AT_ONCE ? [`an endpoint got ${mostAtOnce} calls at once`] : [];
}

/** What no worker can read comes before people. */
function poisonViolations({ customers, hosts }: Simulation): string[] {
  const lines = hosts.told.filter(({ message }) => message === "poison message");
  const hints = lines.map(({ fields }) => String(fields["hint"]));
  return customers.foreign
    .filter((name) => !hints.some((hint) => hint.includes(name)))
    .map((name) => `nobody was told of the message ${name}`);
}

/** Seconds within which an event is delivered where nothing goes wrong, clocks that differ included. */
const PROMPT_MS = 45_000;

/** Where no call fails everybody is served, and at once. */
function quietViolations(simulation: Simulation, events: readonly Told[]): string[] {
  if (!simulation.isQuiet) return [];
  const { customers, world } = simulation;
  const late = events.filter(({ id }) => {
    const taken = world.networks.received.find(
      ({ webhookId, isTaken }) => webhookId === id && isTaken,
    );
    return taken !== undefined && taken.at - timeOfId("event", id) > PROMPT_MS;
  });
  return [
    ...late.map(({ type, id }) => `${type} ${id} was delivered late`),
    ...customers.requests.silences.map((key) => `${key} got no answer`),
  ];
}

/** What a run broke of the rules; nothing when all held. */
export function violationsOf(simulation: Simulation): string[] {
  const { model } = simulation.world;
  const posts = postsOf(model);
  const events = eventsOf(model);
  const platforms = new Set(simulation.tenants.map(({ scope }) => scope.platformId));
  return [
    ...simulation.world.history.violations,
    ...simulation.hosts.defects,
    ...openWork(model),
    ...[...platforms].flatMap((platformId) => [
      ...moneyViolations(model, platformId),
      ...totalsViolations(model, platformId),
    ]),
    ...posts.flatMap((found) => [
      ...postViolations(simulation, found, events),
      ...cancelViolations(simulation, found.post),
      ...found.legs.flatMap((leg) => legViolations(simulation, found, leg, events)),
    ]),
    ...deliveryViolations(simulation, events),
    ...crowdViolations(simulation),
    ...erasureViolations(simulation),
    ...poisonViolations(simulation),
    ...quietViolations(simulation, events),
    ...simulation.customers.asks.flatMap((ask) =>
      ask.kind === "charge"
        ? chargeViolations(simulation, ask)
        : askViolations(simulation, ask, posts),
    ),
    ...simulation.customers.changes.flatMap((change) => changeViolations(simulation, change)),
    ...refusalViolations(simulation),
    ...tenantViolations(simulation, posts),
  ];
}
