import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

/** The request that something goes back to. Kept in rows, so that whoever works on them later tells of it too. */
export interface Origin {
  readonly traceId: string | null;
  readonly requestId: string | null;
}

/** Of what no request asked for, and of rows from before origins were kept. */
export const NO_ORIGIN: Origin = { traceId: null, requestId: null };

/** Where a piece of work stands in a trace (W3C Trace Context): the whole's id, and that of the step that asked. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** A version of the future may add fields at the end; the fields of this one keep their places. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;
const LONGEST = 512;

/** The header's content, or undefined where it is not a valid one: then a trace of our own begins. */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  if (typeof text !== "string" || text.length > LONGEST) return undefined;
  const [, version, traceId = "", spanId = "", more] = TRACE_PARENT.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Always flagged as recorded, which it is: a log line is written for each of our steps. */
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

const SHOWN = ["platformId", "profileId", "postId", "endpointId", "deliveryId"] as const;
const ID_LENGTH_MAX = 64;

function textIn(message: unknown, name: string): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const value: unknown = Reflect.get(message, name);
  return typeof value === "string" ? value : undefined;
}

export function traceOfHint(message: unknown): string | undefined {
  return textIn(message, "trace");
}

/** The ids in a message, which may be anything: also what no worker could read is to be found by them. */
export function hintFields(message: unknown): WorkFields {
  const found = SHOWN.flatMap((name) => {
    const value = textIn(message, name);
    return value === undefined || value.length > ID_LENGTH_MAX ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
