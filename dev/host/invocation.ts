import { randomBytes, randomUUID } from "node:crypto";
import type { RegisteredFunction, WorkerApp } from "./core-api.ts";
import type {
  CoreInvocationContext,
  InvocationRequest,
  InvocationResponse,
  PostInvocationContext,
  PreInvocationContext,
  TraceContext,
  TypedData,
} from "./core-types.ts";
import { errorText } from "./host-log.ts";
import type { HostLog } from "./host-log.ts";
import { readOnly } from "./hooks.ts";

export interface TriggerData {
  readonly input: TypedData;
  readonly metadata: Readonly<Record<string, TypedData>>;
  readonly traceParent?: string | undefined;
  readonly traceState?: string | undefined;
}

export type InvocationResult =
  | { readonly succeeded: true; readonly response: InvocationResponse }
  | { readonly succeeded: false; readonly error: unknown };

/**
 * Runs functions the way the worker does, and knows how many of them are running. One that outlives `functionTimeout`
 * takes the worker with it: everything that runs fails, and nothing runs after it.
 */
export class Invoker {
  readonly #app: WorkerApp;
  readonly #log: HostLog;
  readonly #timeoutMs: number;
  readonly #ended = Promise.withResolvers<Error>();
  readonly #running = new Set<PromiseWithResolvers<never>>();
  #failure: Error | undefined;

  constructor(app: WorkerApp, log: HostLog, timeoutMs: number) {
    this.#app = app;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Resolves with the reason when the worker has ended. */
  get ended(): Promise<Error> {
    return this.#ended.promise;
  }

  /** Ends the worker: everything that runs fails. */
  end(reason: Error): void {
    this.#failure ??= reason;
    for (const { reject } of this.#running) reject(this.#failure);
    this.#ended.resolve(this.#failure);
  }

  /** Never rejects: a failure is logged with its stack, as the host does, and is part of the answer. */
  async invoke(functionName: string, trigger: TriggerData): Promise<InvocationResult> {
    const registered = this.#app.functions.get(functionName);
    if (registered === undefined) throw new Error(`there is no function "${functionName}"`);
    const invocationId = randomUUID();
    const cut = Promise.withResolvers<never>();
    this.#running.add(cut);
    const timer = this.#timeOut(functionName);
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const run = this.#run(registered, invocationId, trigger);
      return { succeeded: true, response: await Promise.race([run, cut.promise]) };
    } catch (error) {
      this.#log.write(
        "error",
        `Executed '${functionName}' (Failed, Id=${invocationId})\n${errorText(error)}`,
      );
      return { succeeded: false, error };
    } finally {
      clearTimeout(timer);
      this.#running.delete(cut);
    }
  }

  #timeOut(functionName: string): NodeJS.Timeout | undefined {
    if (!Number.isFinite(this.#timeoutMs)) return undefined;
    const seconds = this.#timeoutMs / 1000;
    const text = `Timeout value of ${seconds} s exceeded by function '${functionName}'`;
    return setTimeout(() => this.end(new Error(text)), this.#timeoutMs);
  }

  async #run(
    { metadata, callback }: RegisteredFunction,
    invocationId: string,
    trigger: TriggerData,
  ): Promise<InvocationResponse> {
    const { hooks, programmingModel } = this.#app;
    if (programmingModel === undefined) throw new Error("the app set no programming model");
    const hookData: Record<string, unknown> = {};
    const scope: { hookData: Record<string, unknown>; invocationContext?: unknown } = { hookData };
    const core: CoreInvocationContext = {
      invocationId,
      metadata,
      state: undefined,
      request: toRequest(metadata, invocationId, trigger),
      log: (level, category, message) => this.#app.log(level, category, message, scope),
    };
    const model = await programmingModel.getInvocationModel(core);
    const { context, inputs } = await model.getArguments();
    scope.invocationContext = context;
    const shared = { hookData, appHookData: hooks.appHookData, invocationContext: context };

    const before: PreInvocationContext = readOnly(
      { ...shared, functionCallback: callback, inputs },
      HOOK_READ_ONLY,
    );
    await within(core, "preInvocationHooks", () => hooks.run("preInvocation", before));

    const after: PostInvocationContext = readOnly(
      { ...shared, inputs: before.inputs, result: null, error: null },
      HOOK_READ_ONLY,
    );
    try {
      after.result = await within(core, "invocation", () =>
        model.invokeFunction(context, before.inputs, before.functionCallback),
      );
    } catch (error) {
      after.error = error;
    }
    await within(core, "postInvocationHooks", () => hooks.run("postInvocation", after));
    // A hook may clear the error or set one. What is thrown as null or undefined counts as no error, in the worker too.
    if (after.error !== null && after.error !== undefined) throw after.error;
    return model.getResponse(context, after.result);
  }
}

const HOOK_READ_ONLY = ["hookData", "appHookData", "invocationContext"] as const;

async function within<Value>(
  core: CoreInvocationContext,
  state: CoreInvocationContext["state"],
  run: () => Promise<Value>,
): Promise<Value> {
  core.state = state;
  try {
    return await run();
  } finally {
    core.state = undefined;
  }
}

function toRequest(
  { functionId, bindings }: RegisteredFunction["metadata"],
  invocationId: string,
  trigger: TriggerData,
): InvocationRequest {
  const name = Object.keys(bindings).find((key) => isTrigger(bindings[key]?.type));
  if (name === undefined) throw new Error(`function "${functionId}" has no trigger`);
  return {
    invocationId,
    functionId,
    inputData: [{ name, data: trigger.input }],
    triggerMetadata: {
      ...trigger.metadata,
      sys: { json: systemMetadata(functionId) },
    },
    traceContext: traceContext(trigger),
    retryContext: undefined,
  };
}

export function isTrigger(type: string | undefined): boolean {
  return type?.toLowerCase().endsWith("trigger") ?? false;
}

function systemMetadata(functionId: string): string {
  return JSON.stringify({
    MethodName: functionId,
    UtcNow: new Date().toISOString(),
    RandGuid: randomUUID(),
  });
}

const TRACE_PARENT = /^00-(?<trace>[0-9a-f]{32})-[0-9a-f]{16}-(?<flags>[0-9a-f]{2})$/;

/** The caller's trace goes on with a span of ours; without a valid one a new trace begins. */
function traceContext({ traceParent, traceState }: TriggerData): TraceContext {
  const given = TRACE_PARENT.exec(traceParent ?? "")?.groups;
  const trace = given?.["trace"] ?? randomBytes(16).toString("hex");
  const flags = given?.["flags"] ?? "00";
  return {
    traceParent: `00-${trace}-${randomBytes(8).toString("hex")}-${flags}`,
    traceState: given === undefined ? "" : (traceState ?? ""),
    attributes: {},
  };
}
