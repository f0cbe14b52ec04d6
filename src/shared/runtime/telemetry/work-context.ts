import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

/** The request that caused something. Kept in rows, so that the logs of later work on them name it too. */
export interface Origin {
  readonly traceId: string | null;
  readonly requestId: string | null;
}

/** The origin of work without a request, and of rows that were written before origins were kept. */
export const NO_ORIGIN: Origin = { traceId: null, requestId: null };

/** A position in a trace (W3C Trace Context): the trace's id and that of the calling step. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** Later versions may add fields at the end; the first fields stay the same. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;
const LONGEST = 512;

/** Parses the header; undefined when it is not valid, and then a new trace begins. */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  if (typeof text !== "string" || text.length > LONGEST) return undefined;
  const [, version, traceId = "", spanId = "", more] = TRACE_PARENT.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Formats the header, always with the recorded flag: each step writes a log line. */
export function formatTraceParent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What the Functions host gives to one invocation of a function. */
export interface Invocation {
  readonly traceParent?: string | undefined;
  /** How often its message was received, this time included. */
  readonly dequeueCount?: number | undefined;
  /** Writes a line that the host files under the invocation. */
  write(level: LogLevel, line: string): void;
}

/** The fields that every log line of a piece of work has. */
export type WorkFields = Readonly<Record<string, string | undefined>>;

interface WorkContext {
  readonly traceId: string;
  /** The id of this step: calls that it makes name it as their parent. */
  readonly spanId: string;
  readonly requestId: string | null;
  fields: WorkFields;
  readonly invocation: { readonly host: Invocation | undefined; isOver: boolean };
}

interface Beginning {
  /** Headers and message fields as they were received; the first valid one is the parent. */
  readonly parents: readonly unknown[];
  readonly requestId?: string;
  readonly fields?: WorkFields;
  readonly host?: Invocation | undefined;
}

const contexts = new AsyncLocalStorage<WorkContext | undefined>();

/** Runs a request, a message or a timer: all that it does, however late, belongs to it. */
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

/** Continues the work of an earlier request, whose origin a row has; fields without an origin stay the same. */
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

/** Runs a part of the work under way, whose lines have more fields. */
export function withinWork<T>(fields: WorkFields, run: () => T): T {
  return continueWork(NO_ORIGIN, fields, run);
}

/** Adds fields to the later lines of the work under way. */
export function noteWork(fields: WorkFields): void {
  const now = contexts.getStore();
  if (now !== undefined) now.fields = { ...now.fields, ...fields };
}

/** Runs what outlives the work that starts it, such as timers and caches. */
export function outsideWork<T>(run: () => T): T {
  return contexts.run(undefined, run);
}

/** Returns the fields of the work under way, for a log line. */
export function workFields(): WorkFields {
  const now = contexts.getStore();
  if (now === undefined) return {};
  const { requestId, traceId, fields } = now;
  return { ...(requestId === null ? {} : { requestId }), traceId, ...fields };
}

/** Returns the origin that a row written now keeps. */
export function currentOrigin(): Origin {
  const { traceId, requestId } = contexts.getStore() ?? NO_ORIGIN;
  return { traceId, requestId };
}

/** Returns the trace header for our own workers, which continue this work: this step is the parent. */
export function currentTraceParent(): string | undefined {
  const now = contexts.getStore();
  return now === undefined ? undefined : formatTraceParent(now);
}

/** Returns the trace header of a call to another service: each call is a step of its own. */
export function traceParentOfCall(): string | undefined {
  const now = contexts.getStore();
  return now === undefined
    ? undefined
    : formatTraceParent({ traceId: now.traceId, spanId: newSpanId() });
}

/** Returns the invocation under way; undefined after its end, when the host no longer takes lines. */
export function currentInvocation(): Invocation | undefined {
  const invocation = contexts.getStore()?.invocation;
  return invocation?.isOver === false ? invocation.host : undefined;
}

const SHOWN = ["kind", "platformId", "profileId", "postId", "endpointId", "deliveryId"] as const;
const ID_LENGTH_MAX = 64;

function textIn(message: unknown, name: string): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const value: unknown = Reflect.get(message, name);
  return typeof value === "string" ? value : undefined;
}

export function traceOfHint(message: unknown): string | undefined {
  return textIn(message, "trace");
}

/** Returns the ids in a message of any form, so that messages which no worker could read are found by them. */
export function hintFields(message: unknown): WorkFields {
  const found = SHOWN.flatMap((name) => {
    const value = textIn(message, name);
    return value === undefined || value.length > ID_LENGTH_MAX ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
