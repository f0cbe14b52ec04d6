import {
  EmailStore,
  createPasswords,
  PlatformStore,
  UserStore,
  ApplicationStore,
  ErasureStore,
  linkGuard,
  KeyStore,
  isActorActive,
  createGrants,
  ProfileStore,
} from "./tenants/tenants.ts";
import { createAudit } from "./audit/audit.ts";
import { createOperators, createSessions } from "./callers/tokens.ts";
import { type Commit, WalletStore } from "./core/core.ts";
import type { HttpDeps } from "./http/deps.ts";
import type { Clock } from "./runtime/process.ts";
import type { Config } from "./config/config.ts";
import { AppFaults, createConnectionStores } from "./connections/connections.ts";
import { ConcurrencyLimit, SharedOutcome, SingleFlight } from "./runtime/promises.ts";
import { AccessCache } from "./http/access/access-cache.ts";
import { createLimits, WaitingRequests, WorkShares } from "./limits/limits.ts";
import { createLog, type Log } from "./runtime/log.ts";
import { createNames, type Names } from "./runtime/names.ts";
import { createOutbound, type Outbound } from "./runtime/outbound.ts";
import { createCursors } from "./runtime/page.ts";
import {
  AccountStore,
  PUBLISHING_QUEUE,
  type PublishingHint,
  IdempotencyStore,
  PostStore,
  AccountQueueStore,
  TimelineStore,
  UnmappedSignals,
} from "./publishing/publishing.ts";
import { Wakes } from "./wake/wake.ts";
import {
  DeadDeliveryStore,
  DeliveryStore,
  PendingStore,
  EndpointHealthStore,
  EndpointStore,
  FanOutQueue,
  Rerun,
  WEBHOOK_QUEUE,
  type WebhookHint,
} from "./webhooks/webhooks.ts";
import { EventStore } from "./events/events.ts";
import { RecentMap } from "./runtime/recent-map.ts";
import { createCheckedTokens } from "./runtime/checked-tokens.ts";
import { rotatingKeys } from "./runtime/rotating-keys.ts";
import { HintQueue, type MessageQueue, type PoisonQueue } from "./runtime/storage/queue.ts";
import { Stop } from "./runtime/process.ts";
import { openQueue, openTables, type Tables } from "./runtime/storage/tables.ts";
import { Metrics } from "./runtime/telemetry/metrics.ts";
import { openPoisonQueues } from "./background/poison-queue.ts";
import { WalkStore } from "./background/walk-store.ts";

/** How long a check of readiness counts: anybody may ask for one, and each asks storage. */
const READINESS_MS = 1_000;
/** Bounds the work that one process has under way beside the messages that its host counts. */
const COMPANIONS_MAX = 64;

const QUEUES = [PUBLISHING_QUEUE, WEBHOOK_QUEUE];

/** Endpoints whose platform is known without a read. */
const ENDPOINTS_KNOWN_MAX = 10_000;

/** What the process has. The `deps.ts` of each folder declares what its verbs need; they take it as first argument. */
export type Services = HttpDeps;

/** What a test may replace: storage, queues with their delays, time, outbound calls, names of hosts and the log. */
export interface Overrides {
  readonly tables?: Tables;
  readonly queue?: (name: string) => MessageQueue;
  readonly poisonQueue?: (name: string) => PoisonQueue;
  readonly clock?: Clock;
  readonly outbound?: Outbound;
  readonly names?: Names;
  readonly log?: Log;
}

type QueueMaker = (name: string) => MessageQueue;

function webhookServices(
  tables: Tables,
  { log, queue, wakes }: { readonly log: Log; readonly queue: QueueMaker; readonly wakes: Wakes },
) {
  const webhookQueue = new HintQueue<WebhookHint>(queue(WEBHOOK_QUEUE));
  return {
    events: new EventStore(tables.core, tables.events),
    endpointHealth: new EndpointHealthStore(tables.deliveries),
    deliveries: new DeliveryStore(tables.deliveries),
    pending: new PendingStore(tables.deliveries),
    deadDeliveries: new DeadDeliveryStore(tables.dead),
    webhookQueue,
    fanOutQueue: new FanOutQueue(webhookQueue, { wakes, log }),
    fanOuts: new Rerun(),
    drains: new Rerun(),
  };
}

function walletsOf(
  { limits }: Config,
  core: Tables["core"],
  parts: Pick<Services, "metrics" | "fanOutQueue" | "wakes" | "clock">,
): WalletStore {
  const { metrics, fanOutQueue, wakes, clock } = parts;
  const now = () => clock.now();
  return new WalletStore(core, now, {
    balanceLowTokens: limits.balanceLowTokens,
    mark: (platformId) => wakes.mark("platform", platformId, now()),
    onEvent: (platformId) => void fanOutQueue.markAndHint(platformId, now()),
    onBatch: (operations, outcome) =>
      metrics.observe("wallet.batch_operations", operations, { outcome }),
  });
}

function hashingServices(identity: Config["identity"]) {
  const peppers = { current: identity.keyPepper, previous: identity.previousKeyPepper };
  return {
    keyPeppers: rotatingKeys(peppers, "API key hashes"),
    passwords: createPasswords(identity),
  };
}

/** Makes the stores of what requests are checked against. Each raises the access version when that changes. */
function accessStores({ core, keys }: Tables, wallets: WalletStore, now: () => Date) {
  const commit = commitOf(wallets);
  const users = new UserStore(core, commit);
  const keyStore = new KeyStore(keys, core, commit);
  const rows: Parameters<typeof isActorActive>[0] = {
    key: (id) => keyStore.findWithHash(id),
    user: (platformId, id) => users.find(platformId, id),
  };
  return {
    platforms: new PlatformStore(core, commit),
    users,
    applications: new ApplicationStore(core, commit),
    keys: keyStore,
    profiles: new ProfileStore(core, commit),
    linkGuard,
    isActorActive: (platformId: string, id: string) =>
      isActorActive(rows, { platformId, id }, now()),
  };
}

/** Returns how stores change their rows in a platform's partition. */
function commitOf(wallets: WalletStore): Commit {
  return (platformId, operation) => wallets.commit(platformId, operation);
}

/** Makes what signs and recognises our own tokens. */
function tokenServices(identity: Config["identity"], now: () => Date) {
  const { sessionSecret, previousSessionSecret, grantSecret, previousGrantSecret } = identity;
  const secrets = { current: sessionSecret, previous: previousSessionSecret };
  return {
    sessions: createSessions(secrets, now),
    linkTokens: createCheckedTokens(rotatingKeys(secrets, "link tokens")),
    cursors: createCursors(rotatingKeys(secrets, "list cursors")),
    grants: createGrants({ current: grantSecret, previous: previousGrantSecret }, now),
  };
}

const postStores = (tables: Tables) => ({
  posts: new PostStore(tables.core),
  idempotency: new IdempotencyStore(tables.core),
  timeline: new TimelineStore(tables.timeline),
});

/** Makes what keeps one platform from using all that a process has. */
const shares = () => ({
  waits: new WaitingRequests(),
  publishShares: new WorkShares(),
  drainShares: new WorkShares(),
  endpointOwners: new RecentMap<string>(ENDPOINTS_KNOWN_MAX),
});

/** Composes the process. Opens nothing: connections are made when they are first used. */
export function buildServices(config: Config, overrides: Overrides = {}): Services {
  const tables = overrides.tables ?? openTables(config.storage);
  const { identity, storage } = config;
  const clock = overrides.clock ?? { now: () => new Date() };
  const now = () => clock.now();
  const open = (name: string) => openQueue(storage.host, storage.prefix + name);
  const { queue = open, poisonQueue = open } = overrides;
  const names = overrides.names ?? createNames(config);
  const outbound = overrides.outbound ?? createOutbound(config, names);
  const log = overrides.log ?? createLog({ level: config.logLevel });
  const metrics = new Metrics(log);
  const tokens = tokenServices(identity, now);
  const wakes = new Wakes(tables.wake);
  const webhooks = webhookServices(tables, { log, queue, wakes });
  const wallets = walletsOf(config, tables.core, { metrics, wakes, clock, ...webhooks });
  const networkAccounts = new AccountStore(tables.accounts);
  return {
    config,
    clock,
    log,
    metrics,
    stop: new Stop(),
    outbound,
    names,
    ...shares(),
    ...tokens,
    ...accessStores(tables, wallets, now),
    emails: new EmailStore(tables.emails),
    erasures: new ErasureStore(tables.erasures),
    endpoints: new EndpointStore(tables.core, commitOf(wallets), identity.dataKeys),
    ...hashingServices(identity),
    readiness: new SharedOutcome(READINESS_MS, now),
    accessCache: new AccessCache(),
    companions: new ConcurrencyLimit(COMPANIONS_MAX),
    operators: createOperators(identity.operators, { outbound, log, now }),
    audit: createAudit({ clock, log, cursors: tokens.cursors }),
    networkAccounts,
    ...createConnectionStores({
      config,
      tables,
      clock,
      commit: commitOf(wallets),
      networkAccounts,
    }),
    appFaults: new AppFaults(log, clock),
    credentialFlights: new SingleFlight(),
    wallets,
    ...postStores(tables),
    wakes,
    limits: createLimits({ config: config.limits, clock, log, table: tables.ratewindows }),
    accountQueues: new AccountQueueStore(tables.accounts),
    unmappedSignals: new UnmappedSignals(log, metrics),
    publishQueue: new HintQueue<PublishingHint>(queue(PUBLISHING_QUEUE)),
    walks: new WalkStore(tables.housekeeping),
    poisonQueues: openPoisonQueues(QUEUES, poisonQueue),
    ...webhooks,
  };
}
