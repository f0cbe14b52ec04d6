import { isEnded, postStatus, type Leg, type Post } from "../../src/shared/posts/post.ts";
import { toLeg, toPost } from "../../src/shared/posts/post-row.ts";
import type { Row } from "../../src/shared/storage/row.ts";
import type { Ask, Simulation } from "./simulation.ts";
import type { ModelRow, TableModel } from "./table-model.ts";

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

// Safe: the product wrote them through its own table.
const toRow = ({ rowKey, properties }: ModelRow) => ({ rowKey, ...properties }) as Row;

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
      open.push(`the post ${post.draft.externalId} is ${post.status}`);
    for (const leg of legs)
      if (!isEnded(leg)) open.push(`${leg.network} of ${post.draft.externalId} is ${leg.status}`);
  }
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

const isOf = (types: readonly string[], { type }: Row) => types.includes(String(type));

/** Sum, numbers and chain of a ledger; what the wallet says; what open legs hold. */
function moneyViolations(model: TableModel, platformId: string): string[] {
  const violations: string[] = [];
  const wallet = model.find("core", platformId, "W").properties;
  const { balance, reserved, sequence } = wallet;
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
    .filter(({ hold }) => hold.state === "open")
    .reduce((total, { hold }) => total + hold.tokens, 0);
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

/** Published at most once, and exactly once for what is paid; what failed for a known reason is not there. */
function legViolations(
  { world }: Simulation,
  found: FoundPost,
  leg: Leg,
  events: readonly Told[],
): string[] {
  const { post } = found;
  const what = `${leg.network} of ${post.draft.externalId}`;
  const isOwn = (host: string) => (host.includes("|") ? "mastodon" : "bluesky") === leg.network;
  const seen = world.networks.visible.filter(
    ({ text, host }) => text === post.draft.text && isOwn(host),
  );
  const ledger = ledgerOf(world.model, post.platformId).filter((row) => row["postId"] === post.id);
  const settled = ledger.filter(
    (row) => row["type"] === "settle" && row["network"] === leg.network,
  );
  const retries = ledger.filter(
    (row) => row["operation"] === "posts.retry_leg" && row["type"] === "reserve",
  );
  const doubts = events.filter(
    ({ postId, legNetwork, legError }) =>
      postId === post.id && legNetwork === leg.network && legError === "outcome_unknown",
  );
  const violations: string[] = [];
  const most = 1 + Math.min(retries.length, doubts.length);
  if (seen.length > most) violations.push(`${what} was published ${seen.length} times`);
  if (seen.some(({ edits }) => edits > 0)) violations.push(`${what} was changed after it was out`);
  const charged = leg.status === "succeeded" ? 1 : 0;
  if (settled.length !== charged || leg.tokensCharged !== charged * LEG_TOKENS)
    violations.push(`${what} is ${leg.status} and was charged ${settled.length} times`);
  if (settled.some(({ tokens }) => tokens !== -LEG_TOKENS))
    violations.push(`${what} was charged another price`);
  if (leg.status === "succeeded" && seen.length === 0)
    violations.push(`${what} succeeded and is not there`);
  if (
    leg.status === "failed" &&
    leg.error?.code !== "outcome_unknown" &&
    seen.length > 0 &&
    doubts.length === 0
  )
    violations.push(`${what} failed with ${leg.error?.code} and is there`);
  if (leg.status === "skipped" && seen.length > 0)
    violations.push(`${what} was skipped and is there`);
  return violations;
}

/** The post's state, its price for being stored, its time, and that its end was told once and heard. */
function postViolations(
  simulation: Simulation,
  found: FoundPost,
  events: readonly Told[],
): string[] {
  const { post, legs } = found;
  const what = `the post ${post.draft.externalId}`;
  const violations: string[] = [];
  const wanted = post.status === "canceled" ? "canceled" : postStatus(legs);
  if (post.status !== wanted) violations.push(`${what} is ${post.status}, not ${wanted}`);
  const ledger = ledgerOf(simulation.world.model, post.platformId).filter(
    (row) => row["postId"] === post.id,
  );
  const stored = ledger.filter((row) => row["operation"] === "posts.schedule");
  const isScheduled = post.draft.scheduleAt !== null;
  if (
    stored.length !== (isScheduled ? 1 : 0) ||
    stored.some(({ tokens }) => tokens !== -SCHEDULE_TOKENS)
  )
    violations.push(`${what} was charged ${stored.length} times for being stored`);
  if (isScheduled && post.startedAt !== null && post.startedAt < (post.draft.scheduleAt ?? ""))
    violations.push(`${what} was published early`);
  const retries = ledger.filter(
    (row) => row["operation"] === "posts.retry_leg" && row["type"] === "reserve",
  );
  const own = events.filter(({ postId }) => postId === post.id);
  const ends = own.filter(({ type }) => END_EVENTS.has(type));
  const last = own.toSorted((left, right) => left.sequence - right.sequence).at(-1);
  // A retry of one leg while another is on its way gives the post no end of its own.
  if (ends.length < 1 || ends.length > 1 + retries.length)
    violations.push(
      `the end of ${what}, retried ${retries.length} times, was told ${ends.length} times`,
    );
  if (last?.type !== `post.${post.status}`)
    violations.push(`${what} is ${post.status}, the last that was told is ${last?.type}`);
  const sequences = own.map(({ sequence }) => sequence).sort((left, right) => left - right);
  if (sequences.some((sequence, index) => sequence !== index + 1))
    violations.push(`the events of ${what} are numbered ${sequences.join()}`);
  return violations;
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

/** What a client was told holds: one post per key, a refusal means nothing was done, an answer that it was. */
function askViolations({ world }: Simulation, ask: Ask, posts: readonly FoundPost[]): string[] {
  const { key, kind, answers, postIds, isParallel } = ask;
  const last = answers.at(-1);
  // A request that nobody heard of any more may still be under way, and find tokens later.
  const wasRefused =
    last === "insufficient_tokens" && !isParallel && !answers.includes("no_answer");
  if (kind === "charge") {
    const { platformId } = ask.tenant.scope;
    const paid = ledgerOf(world.model, platformId).filter((row) => row["requestId"] === key).length;
    if (paid > 1) return [`${key} was charged ${paid} times`];
    if (last === "paid" && paid === 0) return [`${key} was answered paid and was not`];
    return wasRefused && paid > 0 ? [`${key} was refused and paid`] : [];
  }
  const own = posts.filter(({ post }) => post.draft.externalId === key);
  const violations: string[] = [];
  if (own.length > 1) violations.push(`${key} stands for ${own.length} posts`);
  if (postIds.size > 1) violations.push(`${key} was answered with ${postIds.size} posts`);
  for (const postId of postIds)
    if (!own.some(({ post }) => post.id === postId))
      violations.push(`${key} was answered with a post that is not there`);
  if (wasRefused && own.length > 0) violations.push(`${key} was refused and accepted`);
  return violations;
}

/** Nothing of one platform lies with another, under whatever key. */
function tenantViolations({ tenants }: Simulation, posts: readonly FoundPost[]): string[] {
  const places = tenants.map(
    ({ scope }) => `${scope.platformId}|${scope.applicationId}|${scope.profileId}`,
  );
  return posts.flatMap(({ post }) => {
    const place = `${post.platformId}|${post.applicationId}|${post.profileId}`;
    return places.includes(place) ? [] : [`the post ${post.draft.externalId} lies elsewhere`];
  });
}

/** Watches every transaction for a wallet that owes more than it owns. */
export function watchWallets(model: TableModel): readonly string[] {
  const violations: string[] = [];
  model.onCommit = ({ table }, rows) => {
    if (table !== "core") return;
    const wallet = rows.find(({ rowKey }) => rowKey === "W")?.properties;
    if (wallet === undefined) return;
    const [balance, reserved] = [Number(wallet["balance"]), Number(wallet["reserved"])];
    if (reserved < 0 || reserved > balance)
      violations.push(`a wallet had ${reserved} reserved of ${balance}`);
  };
  return violations;
}

/** What a run broke of the rules; nothing when all held. */
export function violationsOf(simulation: Simulation): string[] {
  const { model } = simulation.world;
  const posts = postsOf(model);
  const events = eventsOf(model);
  const platforms = new Set(simulation.tenants.map(({ scope }) => scope.platformId));
  return [
    ...simulation.walletViolations,
    ...simulation.hosts.defects,
    ...openWork(model),
    ...[...platforms].flatMap((platformId) => moneyViolations(model, platformId)),
    ...posts.flatMap((found) => [
      ...postViolations(simulation, found, events),
      ...found.legs.flatMap((leg) => legViolations(simulation, found, leg, events)),
    ]),
    ...deliveryViolations(simulation, events),
    ...simulation.asks.flatMap((ask) => askViolations(simulation, ask, posts)),
    ...tenantViolations(simulation, posts),
  ];
}
