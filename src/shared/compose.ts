import { EmailStore } from "./tenants/staff/email-store.ts";
import { createPasswords } from "./tenants/staff/password.ts";
import { PlatformStore } from "./tenants/platforms/platform-store.ts";
import { UserStore } from "./tenants/staff/user-store.ts";
import { ApplicationStore } from "./tenants/applications/application-store.ts";
import { createAudit } from "./audit/audit.ts";
import { createOperators, createSessions } from "./callers/tokens.ts";
import { type Commit, WalletStore } from "./core/core.ts";
import type { HttpDeps } from "./http/deps.ts";
import type { Clock } from "./runtime/process.ts";
import type { Config } from "./config/config.ts";
import { AppFaults } from "./connections/app-faults.ts";
import { ConnectSessionStore } from "./connections/connect-session-store.ts";
import { AuthorisationStore } from "./connections/authorisation-store.ts";
import type { Viewer } from "./connections/connection-event.ts";
import { ConnectionStore } from "./connections/connection-store.ts";
import { AccountCheckStore } from "./connections/account-check-store.ts";
import { WithdrawalStore } from "./connections/withdrawal-store.ts";
import { HostStore } from "./connections/host-store.ts";
import { OAuthStateStore } from "./connections/oauth-state-store.ts";
import { ConcurrencyLimit, SharedOutcome, SingleFlight } from "./runtime/promises.ts";
import { AccessCache } from "./http/access/access-cache.ts";
import { ErasureStore } from "./tenants/erasure/erasure-store.ts";
import { linkGuard } from "./tenants/link-guard.ts";
import { KeyStore } from "./tenants/keys/key-store.ts";
import { isActorActive } from "./tenants/keys/profile-grants.ts";
import { createLimits, WaitingRequests, WorkShares } from "./limits/limits.ts";
import { createLog, type Log } from "./runtime/log.ts";
import { createNames, type Names } from "./runtime/names.ts";
import { createOutbound, type Outbound } from "./runtime/outbound.ts";
import { createCursors } from "./runtime/page.ts";
import { createGrants } from "./tenants/profiles/grant.ts";
import { ProfileStore } from "./tenants/profiles/profile-store.ts";
import { AccountStore } from "./publishing/accounts/account-store.ts";
import { Wakes } from "./wake/wake.ts";
import { PUBLISHING_QUEUE, type PublishingHint } from "./publishing/post-queue.ts";
import { IdempotencyStore } from "./publishing/idempotency-store.ts";
import { PostStore } from "./publishing/post-store.ts";
import { AccountQueueStore } from "./publishing/accounts/account-queue-store.ts";
import { TimelineStore } from "./publishing/timeline-store.ts";
import { UnmappedSignals } from "./publishing/publish/unmapped-signals.ts";
import { DeadDeliveryStore } from "./webhooks/deliveries/dead-delivery-store.ts";
import { DeliveryStore } from "./webhooks/deliveries/delivery-store.ts";
import { PendingStore } from "./webhooks/deliveries/pending-store.ts";
import { EndpointHealthStore } from "./webhooks/endpoints/endpoint-health-store.ts";
import { EndpointStore } from "./webhooks/endpoints/endpoint-store.ts";
import { EventStore } from "./events/events.ts";
import { FanOutQueue, Rerun, WEBHOOK_QUEUE, type WebhookHint } from "./webhooks/hint-queue.ts";
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

function connectionStores(
  config: Config,
  { core, accounts, authorisations: table }: Tables,
  { clock, wallets }: Pick<Services, "clock" | "wallets">,
) {
  const networkAccounts = new AccountStore(accounts);
  const authorisations = new AuthorisationStore(table);
  const parts = {
    core,
    authorisations,
    dataKeys: config.identity.dataKeys,
    clock,
    commit: commitOf(wallets),
    // Loaded when an account is linked: it brings along every network.
    viewer: async (account: Parameters<Viewer>[0]) => {
      const { viewerOf } = await import("./connections/view-connection.ts");
      return await viewerOf({ config, clock, networkAccounts }, account);
    },
  };
  return {
    networkAccounts,
    authorisations,
    connections: new ConnectionStore(parts),
    accountChecks: new AccountCheckStore(parts),
  };
}

/** Returns how stores change their rows in a platform's partition. */
function commitOf(wallets: WalletStore): Commit {
  return (platformId, operation) => wallets.commit(platformId, operation);
}

function linkingStores(tables: Tables, wallets: WalletStore, { dataKeys }: Config["identity"]) {
  return {
    connectSessions: new ConnectSessionStore(tables.core, commitOf(wallets)),
    oauthStates: new OAuthStateStore(tables.oauthstates, dataKeys),
    withdrawals: new WithdrawalStore(tables.oauthstates),
    hosts: new HostStore(tables.instances, dataKeys),
  };
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
    ...connectionStores(config, tables, { clock, wallets }),
    ...linkingStores(tables, wallets, identity),
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
