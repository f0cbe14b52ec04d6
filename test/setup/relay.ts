import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { workers } from "../../src/functions/workers.ts";
import { parseConfig, type Config } from "../../src/shared/config/config.ts";
import { answer, answerUnrouted, type Outgoing } from "../../src/shared/http/answer.ts";
import type { Incoming } from "../../src/shared/http/parse-input.ts";
import { matchPath, methodsOf } from "../../src/shared/http/route.ts";
import type { MailLimits } from "../../src/shared/mail/mail.ts";
import { createLog } from "../../src/shared/runtime/log.ts";
import { createNameResolver, type NameResolver } from "../../src/shared/runtime/resolve-host.ts";
import { createOutbound, type Outbound } from "../../src/shared/runtime/outbound.ts";
import { buildServices, type Overrides, type Services } from "../../src/shared/compose.ts";
import { checkDeclared } from "./declared-answer.ts";
import { createOperatorIssuer, type OperatorIssuer } from "./operator-issuer.ts";
import { drainQueues } from "./drain.ts";
import { createClock, type TestClock } from "./test-clock.ts";
import { runWalks } from "./walks.ts";
import { QueueModel } from "../model/queue-model.ts";
import type { FatedCall } from "../model/machine.ts";
import { StorageModel, type CallFate } from "../model/storage-model.ts";
import { openTables, type Tables } from "../../src/shared/runtime/storage/tables.ts";

export interface RelayOptions {
  /** Settings on top of the harness's own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The outside world, the operators' key set excepted. */
  readonly outbound?: Outbound;
  /** Where names lead; nowhere when absent: no test asks the system's name servers. */
  readonly names?: NameResolver;
  /** The emulator's queues instead of the model's, whose delays follow the relay's clock. */
  readonly emulatedQueues?: boolean;
  /** The emulator's tables instead of the model's, for tests that are about storage itself. */
  readonly emulatedTables?: boolean;
  /** What becomes of each call to the model's tables. */
  readonly tableFault?: (call: FatedCall) => CallFate;
  /** What a write to the model's tables waits for before it arrives. */
  readonly holdWrite?: (call: FatedCall) => Promise<void> | undefined;
  /** The product's own limits of costly work. Most tests have roomy ones, because their callers share an address. */
  readonly boundsCostlyWork?: true;
  /** Time limits for the mail server that a test can wait for. */
  readonly mailLimits?: MailLimits;
  /** The clock of another relay, for two instances of one deployment. */
  readonly sameDeploymentAs?: Relay;
}

export interface CallOptions {
  readonly key?: string;
  readonly session?: string;
  /** Roles of an operator's token that is made for the call. */
  readonly operator?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly rawBody?: string | Uint8Array;
  /** Whether the answer may have values that its route does not declare: a later version's, that are shown. */
  readonly hasLaterValues?: true;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text when it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers field by field and assert what they find
  readonly body: any;
}

export interface Relay {
  /** Throws when the answer is not what its route declares. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  readonly services: Services;
  /** Starts one more process of the deployment, whose parts are its own. */
  another(others?: Overrides): Services;
  readonly clock: TestClock;
  readonly issuer: OperatorIssuer;
  readonly settings: Readonly<Record<string, string>>;
  /** Where messages wait, unless `emulatedQueues`. */
  readonly queues: QueueModel;
  /** As this process reaches them. */
  readonly tables: Tables;
  /** What holds the tables; undefined with `emulatedTables`. */
  readonly storage: StorageModel | undefined;
  /** Lines that were logged, oldest first. */
  readonly logLines: readonly string[];
  advance(ms: number): void;
  /** Runs queued messages that are due until none is left; answers how many there were. */
  drain(): Promise<number>;
  /** The same for messages in the emulator's queues, whatever queues the relay has: another build may have left them there. */
  drainStored(): Promise<number>;
  /** A round of a walk, by its name. */
  runTimer(name: string): Promise<void>;
  stop(): Promise<void>;
}

const ROOMY = { capacity: 2, perOwner: 2, waitingMax: 1_000 };

function settingsFor({ settings, sameDeploymentAs }: RelayOptions, issuer: OperatorIssuer) {
  return {
    ...(sameDeploymentAs?.settings ?? {
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: inject("azurite"),
      STORAGE_PREFIX: `t${randomBytes(5).toString("hex")}`,
      ALLOW_SIGNUP: "true",
      BCRYPT_COST: "4",
      // Many tests share an address and a minute; the tests of the limits set their own.
      RATE_LIMIT_PER_MINUTE: "1000000",
      AUTH_RATE_PER_MINUTE: "1000000",
      SIGNUPS_PER_ADDRESS_DAY: "1000000",
      OPERATOR_ISSUER: issuer.url,
      OPERATOR_AUDIENCE: issuer.audience,
      OPERATOR_JWKS_URL: issuer.jwksUrl,
    }),
    ...settings,
  };
}

function headersOf(options: CallOptions, operatorToken: string | undefined): Headers {
  const bearer = options.key ?? options.session ?? operatorToken;
  return new Headers({
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(options.body === undefined ? {} : { "content-type": "application/json" }),
    ...options.headers,
  });
}

function toAnswer({ status, headers, body }: Outgoing): Answer {
  const isJson = headers.get("content-type")?.includes("json") === true;
  return { status, headers, body: isJson && typeof body === "string" ? JSON.parse(body) : body };
}

/** Resolves with the name servers that a test started, and resolves nothing where it started none. */
function namesFor(config: Config): NameResolver {
  return config.outbound.nameServers.length > 0
    ? createNameResolver(config)
    : { resolve: () => Promise.resolve([]), texts: () => Promise.resolve([]) };
}

/** The storage of a deployment as one of its processes reaches it. */
function storageOf(
  { sameDeploymentAs: same, emulatedTables, tableFault, holdWrite }: RelayOptions,
  config: Config,
  clock: TestClock,
) {
  const queues = new QueueModel(() => clock.now().getTime(), same?.queues);
  const isEmulated = emulatedTables ?? (same !== undefined && same.storage === undefined);
  const storage = isEmulated ? undefined : (same?.storage ?? new StorageModel());
  return {
    queues,
    storage,
    tables: storage?.open(tableFault, holdWrite) ?? openTables(config.storage),
  };
}

/** The product in this process over a storage model of its own, or over the run's emulator where that is asked for. */
export async function startRelay(options: RelayOptions = {}): Promise<Relay> {
  const issuer = options.sameDeploymentAs?.issuer ?? (await createOperatorIssuer());
  const settings = settingsFor(options, issuer);
  const config = parseConfig(settings);
  const clock = options.sameDeploymentAs?.clock ?? createClock();
  const logLines: string[] = [];
  const log = createLog({ level: config.logLevel, sink: (_level, line) => logLines.push(line) });
  const names = options.names ?? namesFor(config);
  const outbound = issuer.inFrontOf(options.outbound ?? createOutbound(config, names));
  const { queues, storage, tables } = storageOf(options, config, clock);
  const parts: Overrides = {
    clock,
    log,
    outbound,
    names,
    tables,
    ...(options.boundsCostlyWork === true ? {} : { costlyWork: ROOMY }),
    ...(options.mailLimits === undefined ? {} : { mailLimits: options.mailLimits }),
    ...(options.emulatedQueues === true
      ? {}
      : {
          queue: (name: string) => queues.open(name),
          poisonQueue: (name: string) => queues.openPoison(name),
        }),
  };
  const services = buildServices(config, parts);

  return {
    services,
    another: (others) => buildServices(config, { ...parts, ...others }),
    clock,
    issuer,
    settings,
    logLines,
    advance: clock.advance,
    queues,
    tables,
    storage,
    drain: () =>
      options.emulatedQueues === true
        ? drainQueues(workers, services)
        : queues.drain(workers, services),
    drainStored: () => drainQueues(workers, services),
    runTimer: (name) => runWalks(services, name),
    stop: () => outbound.close(),
    async call(method, path, callOptions = {}) {
      const token =
        callOptions.operator === undefined
          ? undefined
          : await issuer.token({ roles: callOptions.operator }, clock.now());
      const url = new URL(config.publicBaseUrl + path);
      const routePath = url.pathname.slice(new URL(config.publicBaseUrl).pathname.length + 1);
      const { body, rawBody } = callOptions;
      const bytes = Buffer.from(rawBody ?? (body === undefined ? "" : JSON.stringify(body)));
      const matches = matchPath(routes, routePath);
      const found = matches.find(({ route }) => methodsOf(route).some((one) => one === method));
      const incoming: Incoming = {
        method,
        url,
        headers: headersOf(callOptions, token),
        params: found?.params ?? {},
        body: () => Promise.resolve(new Uint8Array(bytes)),
      };
      const answered = toAnswer(
        found === undefined
          ? await answerUnrouted(routes, services, incoming, routePath)
          : await answer(found.route, services, incoming),
      );
      if (callOptions.hasLaterValues !== true)
        checkDeclared(found?.route, `${method} ${path}`, answered);
      return answered;
    },
  };
}
