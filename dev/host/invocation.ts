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

/** Runs functions the way the worker does, and knows how many of them are running. */
export class Invoker {
  readonly #app: WorkerApp;
  readonly #log: HostLog;
  readonly #timeoutMs: number;
  #running = 0;

  constructor(app: WorkerApp, log: HostLog, timeoutMs: number) {
    this.#app = app;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  get runningCount(): number {
    return this.#running;
  }

  /** Never rejects: a failure is logged with its stack, as the host does, and is part of the answer. */
  async invoke(functionName: string, trigger: TriggerData): Promise<InvocationResult> {
    const registered = this.#app.functions.get(functionName);
    if (registered === undefined) throw new Error(`there is no function "${functionName}"`);
    const invocationId = randomUUID();
    this.#running += 1;
    try {
      const run = this.#run(registered, invocationId, trigger);
      return { succeeded: true, response: await this.#withinTimeout(functionName, run) };
    } catch (error) {
      this.#log.write(
        "error",
        `Executed '${functionName}' (Failed, Id=${invocationId})\n${errorText(error)}`,
      );
      return { succeeded: false, error };
    } finally {
      this.#running -= 1;
    }
  }

  /**
   * The host ends the whole worker process when a function outlives `functionTimeout`. Here only the invocation counts
   * as failed, because ending the process would end the host with it.
   */
  async #withinTimeout<Value>(functionName: string, run: Promise<Value>): Promise<Value> {
    if (!Number.isFinite(this.#timeoutMs)) return run;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        reject(
          new Error(
            `Timeout value of ${this.#timeoutMs / 1000} s exceeded by function '${functionName}'`,
          ),
        ),
      this.#timeoutMs,
    );
    try {
      return await Promise.race([run, promise]);
    } finally {
      clearTimeout(timer);
    }
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
