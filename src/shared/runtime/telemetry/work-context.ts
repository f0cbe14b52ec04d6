import { AsyncLocalStorage } from "node:async_hooks";
import { NO_ORIGIN, type Origin } from "./origin.ts";
import { formatTraceParent, newSpanId, newTraceId, parseTraceParent } from "./trace-parent.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What the Functions host gives to one invocation of a function. */
export interface Invocation {
  readonly traceParent?: string | undefined;
  /** Writes a line that the host files under the invocation. */
  write(level: LogLevel, line: string): void;
}

/** What every log line of a piece of work shows of it. */
export type WorkFields = Readonly<Record<string, string | undefined>>;

interface WorkContext {
  readonly traceId: string;
  /** Of this step: what it calls names it as its parent. */
  readonly spanId: string;
  readonly requestId: string | null;
  fields: WorkFields;
  readonly invocation: { readonly host: Invocation | undefined; isOver: boolean };
}

interface Beginning {
  /** Where the trace comes from, the first that is valid: headers and message fields as they were received. */
  readonly parents: readonly unknown[];
  readonly requestId?: string;
  readonly fields?: WorkFields;
  readonly host?: Invocation | undefined;
}

const contexts = new AsyncLocalStorage<WorkContext | undefined>();

/** Runs a request, a message or a timer: everything that it does, however late, is known to belong to it. */
export async function beginWork<T>(beginning: Beginning, run: () => Promise<T>): Promise<T> {
  const { parents, requestId = null, fields = {}, host } = beginning;
  const given = parents.map(parseTraceParent).find((parent) => parent !== undefined);
  const invocation = { host, isOver: false };
  const traceId = given?.traceId ?? newTraceId();
  const context = { traceId, spanId: newSpanId(), requestId, fields, invocation };
  try {
    return await contexts.run(context, run);
  } finally {
    invocation.isOver = true;
  }
}

/** Goes on with the work of an earlier request, as its row tells it; what the row does not tell is as it was. */
export function continueWork<T>(origin: Origin, fields: WorkFields, run: () => T): T {
  const now = contexts.getStore();
  const next: WorkContext = {
    traceId: origin.traceId ?? now?.traceId ?? newTraceId(),
    spanId: newSpanId(),
    requestId: origin.requestId ?? now?.requestId ?? null,
    fields: { ...now?.fields, ...fields },
    invocation: now?.invocation ?? { host: undefined, isOver: true },
  };
  return contexts.run(next, run);
}

/** A part of the work under way, with fields that its own lines show beside the others. */
export function withinWork<T>(fields: WorkFields, run: () => T): T {
  return continueWork(NO_ORIGIN, fields, run);
}

/** Adds to what the rest of this piece of work shows in its lines. */
export function noteWork(fields: WorkFields): void {
  const now = contexts.getStore();
  if (now !== undefined) now.fields = { ...now.fields, ...fields };
}

/** For what outlives the work that happens to start it: timers, caches. */
export function outsideWork<T>(run: () => T): T {
  return contexts.run(undefined, run);
}

/** What a log line shows of the work it belongs to. */
export function workFields(): WorkFields {
  const now = contexts.getStore();
  if (now === undefined) return {};
  const { requestId, traceId, fields } = now;
  return { ...(requestId === null ? {} : { requestId }), traceId, ...fields };
}

/** What a row keeps of the work that writes it. */
export function currentOrigin(): Origin {
  const { traceId, requestId } = contexts.getStore() ?? NO_ORIGIN;
  return { traceId, requestId };
}

/** For whoever goes on with this work, our own workers: names this step as the parent. */
export function currentTraceParent(): string | undefined {
  const now = contexts.getStore();
  return now === undefined ? undefined : formatTraceParent(now);
}

/** For a call to somebody else: each call is a step of its own. */
export function traceParentOfCall(): string | undefined {
  const now = contexts.getStore();
  return now === undefined
    ? undefined
    : formatTraceParent({ traceId: now.traceId, spanId: newSpanId() });
}

/** Where the host takes lines of the work under way; after its end the host would only complain. */
export function currentInvocation(): Invocation | undefined {
  const invocation = contexts.getStore()?.invocation;
  return invocation?.isOver === false ? invocation.host : undefined;
}
