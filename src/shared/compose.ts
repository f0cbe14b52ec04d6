import { createAudit } from "./audit/audit.ts";
import { createBackgroundStores, queueWalk } from "./background/background.ts";
import {
  type LedgerDeps,
  readWallet,
  chargeTogether,
  createLedgerStores,
  creditWallet,
  WalletAlerts,
} from "./ledger/ledger.ts";
import { createDeviceTokens } from "./callers/device-tokens.ts";
import { createOperators, createSessions } from "./callers/tokens.ts";
import type { Config } from "./config/config.ts";
import {
  AppFaults,
  createConnectionStores,
  connectionsOf,
  createViewer,
  type FreshCredentials,
} from "./connections/connections.ts";
import { type Commit, Partitions } from "./partition/partition.ts";
import { openCheckOf } from "./callers/access-check.ts";
import { AccessCache } from "./http/access/access-cache.ts";
import type { Readiness } from "./http/check-readiness.ts";
import type { HttpDeps } from "./http/deps.ts";
import {
  createMail,
  type Mail,
  type MailDeps,
  type MailLimits,
  mailVerbs,
  SEND_MAILS,
} from "./mail/mail.ts";
import { NETWORK_NAMES } from "./networks/names.ts";
import { titleOf } from "./networks/wording.ts";
import { undefinedIfDamaged } from "./runtime/storage/damaged-row.ts";
import {
  COSTLY_WORK,
  CostlyWork,
  createLimits,
  WaitingRequests,
  WorkShares,
} from "./limits/limits.ts";
import {
  createPublishingStores,
  pingQueue,
  createPostQueries,
  PUBLISHING_QUEUE,
  UnmappedSignals,
} from "./publishing/publishing.ts";
import { bound } from "./runtime/bound.ts";
import { createCheckedTokens } from "./runtime/checked-tokens.ts";
import { createLog, type Log } from "./runtime/log.ts";
import { createNameResolver, type NameResolver } from "./runtime/resolve-host.ts";
import { createOutbound, type Outbound } from "./runtime/outbound.ts";
import { createCursors } from "./runtime/page.ts";
import { type Clock, Stop } from "./runtime/process.ts";
import { FairLimit, type FairLimits } from "./runtime/fair-limit.ts";
import { SingleFlight } from "./runtime/promises.ts";
import { RecentMap } from "./runtime/recent-map.ts";
import { rotatingKeys } from "./runtime/rotating-keys.ts";
import { HintQueue, type MessageQueue, type PoisonQueue } from "./runtime/storage/queue.ts";
import type { Blobs } from "./runtime/storage/blobs.ts";
import { openQueue, openTables, type Tables } from "./runtime/storage/tables.ts";
import { Metrics } from "./runtime/telemetry/metrics.ts";
import {
  createPasswords,
  createPeopleQueries,
  createPeopleStores,
  peopleForErasure,
} from "./people/people.ts";
import {
  createGrants,
  createTenantQueries,
  createTenantStores,
  tenantsForErasure,
  tenantsOfPeople,
} from "./tenants/tenants.ts";
import { createFileStores, type FileStorageState, storageState } from "./files/files.ts";
import { createErasureStore } from "./erasure/erasure.ts";
import { Wakes } from "./wake/wake.ts";
import {
  createWebhookStores,
  markAndHintEvents,
  Rerun,
  WEBHOOK_QUEUE,
  type WebhookHint,
} from "./webhooks/webhooks.ts";

/** How long a result of the readiness check counts. Anybody may ask for it, and each check reads storage. */
const READINESS_MS = 1_000;
const FILES_CHECK_MS = 60_000;
/** Limits the work of one process in addition to the messages that its host counts. */
const COMPANIONS_MAX = 64;

const QUEUES = [PUBLISHING_QUEUE, WEBHOOK_QUEUE];

/** Endpoints whose platform is known without a read. */
const ENDPOINTS_KNOWN_MAX = 10_000;

/** Everything that the process has, by module. Verbs take the type of their module's `deps.ts` as first argument. */
export type Services = HttpDeps;

/**
 * Parts that a test may replace: storage, queues with their delays, time, outbound calls, host names, the log, time limits
 * of mails, and how much costly work is done at a time.
 */
export interface Overrides {
  readonly tables?: Tables;
  readonly blobs?: Blobs;
  readonly queue?: (name: string) => MessageQueue;
  readonly poisonQueue?: (name: string) => PoisonQueue;
  readonly clock?: Clock;
  readonly outbound?: Outbound;
  readonly names?: NameResolver;
  readonly log?: Log;
  readonly costlyWork?: FairLimits;
  readonly mailLimits?: MailLimits;
}

/** Makes the parts that every module depends on. */
function foundationsOf(config: Config, overrides: Overrides) {
  const { identity, storage } = config;
  const clock = overrides.clock ?? { now: () => new Date() };
  const open = (name: string) => openQueue(storage.host, storage.prefix + name);
  const { queue = open, poisonQueue = open } = overrides;
  const webhookMessages = queue(WEBHOOK_QUEUE);
  const names = overrides.names ?? createNameResolver(config);
  const log = overrides.log ?? createLog({ level: config.logLevel });
  const { sessionSecret, previousSessionSecret } = identity;
  const secrets = { current: sessionSecret, previous: previousSessionSecret };
  const cursors = createCursors(rotatingKeys(secrets, "list cursors"));
  const audit = createAudit({ clock, log, cursors });
  const tables = overrides.tables ?? openTables(storage);
  const metrics = new Metrics(log);
  const costlyWork = new CostlyWork((caller) => {
    metrics.count("requests.overloaded", { caller });
    log.warn("too much costly work waits", { caller });
  }, overrides.costlyWork ?? COSTLY_WORK);
  return {
    common: { config, clock, log, audit, cursors },
    now: () => clock.now(),
    tables,
    wakes: new Wakes(tables.wake),
    publishingMessages: queue(PUBLISHING_QUEUE),
    webhookMessages,
    poisonQueue,
    webhookQueue: new HintQueue<WebhookHint>(webhookMessages),
    secrets,
    costlyWork,
    calls: {
      outbound: overrides.outbound ?? createOutbound(config, names),
      names,
      waits: new WaitingRequests(),
    },
    work: { metrics, stop: new Stop() },
    mailLimits: overrides.mailLimits,
  };
}

type Foundations = ReturnType<typeof foundationsOf>;

function partitionsOf(
  { common, now, tables, wakes, work, webhookQueue }: Foundations,
  alerts: WalletAlerts,
): Partitions {
  const hints = { ...common, wakes, stores: { webhookQueue } };
  return new Partitions(tables.core, now, openCheckOf, {
    alongside: (before, after) => alerts.lowBalance(before, after),
    onRefused: (platformId, error, commit) => alerts.noteRefusal(platformId, error, commit),
    mark: (platformId) => wakes.mark("platform", platformId, now()),
    onEvent: (platformId) => void markAndHintEvents(hints, platformId),
    onBatch: (operations, outcome) =>
      work.metrics.observe("wallet.batch_operations", operations, { outcome }),
  });
}

const ledgerOf = (
  { common, tables, work: { metrics } }: Foundations,
  parts: Pick<LedgerDeps, "findPlatform" | "openReservations" | "partitions">,
): LedgerDeps => ({
  ...common,
  ...parts,
  metrics,
  stores: createLedgerStores(tables),
});

const webhookWork = ({ work }: Foundations) => ({
  ...work,
  fanOuts: new Rerun(),
  drains: new Rerun(),
  drainShares: new WorkShares(),
  endpointOwners: new RecentMap<string>(ENDPOINTS_KNOWN_MAX),
});

const linkingOf = ({ common: { log, clock }, secrets }: Foundations) => ({
  linkTokens: createCheckedTokens(rotatingKeys(secrets, "link tokens")),
  appFaults: new AppFaults(log, clock),
  credentialFlights: new SingleFlight<FreshCredentials>(),
});

const publishingWork = ({ common: { log }, work }: Foundations) => ({
  ...work,
  unmappedSignals: new UnmappedSignals(log, work.metrics),
  publishShares: new WorkShares(),
});

function mailOf(
  { common: { config, clock, log }, wakes, tables, work, mailLimits }: Foundations,
  walks: Services["background"]["stores"],
  { owners, namesOf }: Pick<MailDeps, "owners" | "namesOf">,
  commit: Commit,
) {
  const askForWalk = (delaySeconds: number) =>
    queueWalk({ stores: walks, log }, { name: SEND_MAILS, isAsked: true }, delaySeconds);
  const deps = { config, clock, log, wakes, metrics: work.metrics, askForWalk, owners, namesOf };
  return createMail(deps, tables, { commit, stop: work.stop, limits: mailLimits });
}

function tenantSecrets({ common: { config }, now }: Foundations) {
  const { keyPepper, previousKeyPepper, grantSecret, previousGrantSecret } = config.identity;
  const peppers = { current: keyPepper, previous: previousKeyPepper };
  return {
    keyPeppers: rotatingKeys(peppers, "API key hashes"),
    grants: createGrants({ current: grantSecret, previous: previousGrantSecret }, now),
  };
}

function peopleSecrets({ common: { config }, secrets, costlyWork, now }: Foundations) {
  const { identity } = config;
  return {
    passwords: createPasswords(identity, costlyWork),
    sessions: createSessions(secrets, now),
    devices: createDeviceTokens(identity.sessionSecret, now),
  };
}

interface BelowTenants extends Pick<Services, "connections" | "ledger"> {
  readonly mail: Mail;
  readonly stores: Services["tenants"]["stores"];
}

function tenantsOf(
  base: Foundations,
  { ledger, connections, mail, stores }: BelowTenants,
): Services["tenants"] {
  const { common, tables } = base;
  const { config, clock, log } = common;
  return {
    ...common,
    mail,
    readWallet: bound(ledger, readWallet),
    connectionsOf: bound(connections, connectionsOf),
    limits: createLimits({ config: config.limits, clock, log, table: tables.ratewindows }),
    stores,
    secrets: tenantSecrets(base),
  };
}

const accessOf = ({ common: { config, log }, calls: { outbound }, now }: Foundations) => ({
  operators: createOperators(config.identity.operators, { outbound, log, now }),
  accessCache: new AccessCache(),
  companions: new FairLimit({ capacity: COMPANIONS_MAX, perOwner: COMPANIONS_MAX, waitingMax: 0 }),
});

/** Composes the process, module by module from the bottom up. Opens nothing: connections are made on first use. */
export function buildServices(config: Config, overrides: Overrides = {}): Services {
  const base = foundationsOf(config, overrides);
  const { common, now, tables, wakes, webhookQueue, calls, work } = base;
  const { clock } = common;
  const { dataKeys } = config.identity;
  const alerts = new WalletAlerts(config.limits.balanceLowTokens, now);
  const partitions = partitionsOf(base, alerts);
  const commit: Commit = (platformId, operation) => partitions.commit(platformId, operation);
  const stores = createTenantStores(tables, commit);
  const peopleStores = createPeopleStores(tables, commit);
  const posts = createPublishingStores(tables, base.publishingMessages, partitions);
  const { openReservations, appendTimeline, readQuotaUse } = createPostQueries(posts);
  const queries = createTenantQueries(stores);
  const { findPlatform, listApplicationIds } = queries;
  const { listOwners, ...makers } = createPeopleQueries(peopleStores, queries, now);
  const below = { ...queries, ...makers };

  const ledger = ledgerOf(base, { findPlatform, openReservations, partitions });
  const parts = { webhookQueue, commit, dataKeys };
  const walks = createBackgroundStores(tables, base.webhookMessages, QUEUES, base.poisonQueue);
  const namesOf: MailDeps["namesOf"] = async (platformId, item) => {
    const { profile: profileId = "", connection = "", application = "" } = item;
    const [profile, linked, app] = await Promise.all([
      undefinedIfDamaged(queries.findProfile(platformId, profileId)),
      connection === "" ? [] : connectionsOf(connections, { platformId, profileId }),
      undefinedIfDamaged(queries.findApplication(platformId, application)),
    ]);
    const { account } = linked.find(({ id }) => id === connection) ?? {};
    const network = NETWORK_NAMES.find((name) => name === item["network"]);
    return {
      ...(profile !== undefined && { profile: profile.title }),
      ...(account !== undefined && { connection: account.displayName || account.username }),
      ...(app !== undefined && { application: app.name }),
      ...(network !== undefined && { network: titleOf(network) }),
    };
  };
  const mailDeps = mailOf(base, walks, { owners: listOwners, namesOf }, commit);
  const mail = mailVerbs(mailDeps);
  const webhooks: Services["webhooks"] = {
    ...common,
    calls,
    wakes,
    listApplicationIds,
    appendTimeline,
    mail,
    stores: createWebhookStores(tables, parts),
    work: webhookWork(base),
  };
  const viewer = createViewer({ config, clock, readQuotaUse });
  const connections: Services["connections"] = {
    ...common,
    ...calls,
    stores: createConnectionStores(tables, { dataKeys, clock, commit, viewer }),
    linking: linkingOf(base),
    tenants: below,
    readQuotaUse,
  };
  const publishing: Services["publishing"] = {
    ...common,
    ledger: {
      chargeTogether: bound(ledger, chargeTogether),
      noteRefusal: (platformId, refusal) => alerts.noteRefusal(platformId, refusal, commit),
    },
    connections,
    files: {
      ...common,
      wakes,
      partitions,
      stores: createFileStores(tables, config.storage, overrides.blobs),
    },
    wakes,
    webhooks,
    tenants: below,
    stores: posts,
    work: publishingWork(base),
  };
  const secrets = peopleSecrets(base);
  const { sessions } = secrets;
  const tenants = tenantsOf(base, { ledger, connections, mail, stores });
  const people: Services["people"] = {
    ...common,
    mail,
    limits: tenants.limits,
    stores: peopleStores,
    secrets,
    tenants: tenantsOfPeople(tenants),
    creditWallet: bound(ledger, creditWallet),
  };
  const modules = { ...common, ledger, connections, webhooks, publishing, tenants, people };
  const erasure: Services["erasure"] = {
    ...common,
    connections,
    webhooks,
    publishing,
    tenants: tenantsForErasure(tenants),
    people: peopleForErasure(peopleStores),
    erasures: createErasureStore(tables),
  };
  const walk: Pick<Services["background"], "stores" | "work"> = {
    stores: walks,
    work: { ...work, walkShares: new WorkShares() },
  };
  const background: Services["background"] = { ...modules, ...walk, mail: mailDeps, erasure };
  const readiness: Services["readiness"] = {
    checks: new SingleFlight<Readiness>(READINESS_MS, () => common.clock.now().getTime()),
    pingTables: () => queries.ping(),
    pingQueue: () => pingQueue(publishing),
    async useSecrets() {
      const claims = { userId: "readiness", platformId: "readiness", version: 0 };
      const { token } = await sessions.issue(claims);
      await sessions.verify(token);
    },
    mailServerState: () => mail.serverState(),
    fileStorageState: () => storageState(publishing.files),
    fileChecks: new SingleFlight<FileStorageState>(FILES_CHECK_MS, () =>
      common.clock.now().getTime(),
    ),
  };
  const access = { ...accessOf(base), partitions };
  return { ...modules, erasure, background, readiness, access };
}
