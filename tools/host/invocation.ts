import { randomBytes, randomUUID } from "node:crypto";
import type { WorkerApp } from "./app-loader.ts";
import type { InvocationResponse, TypedData } from "./core-types.ts";
import { errorText, userCategory, type HostLog } from "./host-log.ts";

export interface TriggerData {
  readonly input: TypedData;
  readonly metadata: Readonly<Record<string, TypedData>>;
  readonly traceParent?: string | undefined;
  readonly traceState?: string | undefined;
}

export type InvocationResult =
  | { readonly succeeded: true; readonly response: InvocationResponse }
  | { readonly succeeded: false };

/**
 * Runs functions the way the worker does, and counts those that are running. One that outlives `functionTimeout` takes
 * the worker with it: everything that runs fails, and nothing runs after it.
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

  /** Returns a failure as a value, after it logged the error with its stack, as the host does. */
  async invoke(functionName: string, trigger: TriggerData): Promise<InvocationResult> {
    const invocationId = randomUUID();
    const cut = Promise.withResolvers<never>();
    this.#running.add(cut);
    const timer = setTimeout(() => {
      const seconds = this.#timeoutMs / 1000;
      this.end(new Error(`Timeout value of ${seconds} s exceeded by function '${functionName}'`));
    }, this.#timeoutMs);
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const run = this.#run(functionName, invocationId, trigger);
      return { succeeded: true, response: await Promise.race([run, cut.promise]) };
    } catch (error) {
      this.#log.write(
        "error",
        `Executed '${functionName}' (Failed, Id=${invocationId})\n${errorText(error)}`,
        `Function.${functionName}`,
      );
      return { succeeded: false };
    } finally {
      clearTimeout(timer);
      this.#running.delete(cut);
    }
  }

  async #run(
    functionName: string,
    invocationId: string,
    trigger: TriggerData,
  ): Promise<InvocationResponse> {
    const { functions, programmingModel } = this.#app;
    const registered = functions.get(functionName);
    if (registered === undefined || programmingModel === undefined)
      throw new Error(`there is no function "${functionName}"`);
    const { metadata, callback } = registered;
    const [name = ""] =
      Object.entries(metadata.bindings).find(([, { type }]) => isTrigger(type)) ?? [];
    const model = programmingModel.getInvocationModel({
      invocationId,
      metadata,
      request: {
        inputData: [{ name, data: trigger.input }],
        triggerMetadata: trigger.metadata,
        traceContext: traceContext(trigger),
      },
      log: (level, kind, message) =>
        this.#app.log(level, kind, message, userCategory(functionName)),
    });
    const { context, inputs } = await model.getArguments();
    return model.getResponse(context, await model.invokeFunction(context, inputs, callback));
  }
}

export function isTrigger(type: string | undefined): boolean {
  return type?.endsWith("Trigger") ?? false;
}

const TRACE_PARENT = /^00-(?<trace>[0-9a-f]{32})-[0-9a-f]{16}-(?<flags>[0-9a-f]{2})$/;

/** Continues the caller's trace with a span of its own; without a valid one it begins a new trace. */
function traceContext({ traceParent, traceState }: TriggerData) {
  const given = TRACE_PARENT.exec(traceParent ?? "")?.groups;
  const trace = given?.["trace"] ?? randomBytes(16).toString("hex");
  const flags = given?.["flags"] ?? "00";
  return {
    traceParent: `00-${trace}-${randomBytes(8).toString("hex")}-${flags}`,
    traceState: given === undefined ? "" : (traceState ?? ""),
  };
}
