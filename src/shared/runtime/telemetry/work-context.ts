import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

/** The request that caused a piece of work. Rows store it, so that logs of later work on them can name it. */
export interface Origin {
  readonly traceId: string | null;
  readonly requestId: string | null;
}

/** The origin of work that no request caused, and of rows that were written before origins were stored. */
export const NO_ORIGIN: Origin = { traceId: null, requestId: null };

/** A position in a trace (W3C Trace Context): the id of the trace, and that of the calling step. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** Later versions may add fields at the end. The first fields stay the same. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;
const LONGEST = 512;

/** Parses a `traceparent` header. The result is undefined when the header is invalid; a new trace then begins. */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  if (typeof text !== "string" || text.length > LONGEST) return undefined;
  const [, version, traceId = "", spanId = "", more] = TRACE_PARENT.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Formats a `traceparent` header. The "recorded" flag is always set, because each step writes a log line. */
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
  /** How often the message was received, including this time. */
  readonly dequeueCount?: number | undefined;
  /** Writes a line that the host stores with the invocation. */
  write(level: LogLevel, line: string): void;
}

/** The fields that every log line of a piece of work has. */
export type WorkFields = Readonly<Record<string, string | undefined>>;

interface WorkContext {
  readonly traceId: string;
  /** The id of this step. Calls that it makes name it as their parent. */
  readonly spanId: string;
  readonly requestId: string | null;
  readonly isBackground: boolean;
  fields: WorkFields;
  readonly invocation: { readonly host: Invocation | undefined; isOver: boolean };
}

interface WorkStart {
  /** Headers and message fields as they were received. The first valid one is the parent. */
  readonly parents: readonly unknown[];
  readonly requestId?: string;
  /** Whether no caller waits for it. */
  readonly isBackground?: true;
  readonly fields?: WorkFields;
  readonly host?: Invocation | undefined;
}

/** The piece of work that the running code belongs to. Everything that it starts belongs to it, even if it runs later. */
export const works = new AsyncLocalStorage<WorkContext | undefined>();

/** A request, a message or a timer, to run by `works.run`. */
interface Work extends WorkContext {
  /** Call it when the work is done. The host accepts no more lines then. */
  readonly end: () => void;
}

/** Makes the context of a piece of work, in the caller's trace if there is one. */
export function newWork(beginning: WorkStart): Work {
  const { parents, requestId = null, isBackground = false, fields = {}, host } = beginning;
  const given = parents.map(parseTraceParent).find((parent) => parent !== undefined);
  const invocation = { host, isOver: false };
  const traceId = given?.traceId ?? newTraceId();
  const end = () => void (invocation.isOver = true);
  return { traceId, spanId: newSpanId(), requestId, isBackground, fields, invocation, end };
}

/** Continues the work of an earlier request, whose origin a row has stored. Null fields of it change nothing. */
export function continueWork<T>(origin: Origin, fields: WorkFields, run: () => T): T {
  const now = works.getStore();
  const next: WorkContext = {
    traceId: origin.traceId ?? now?.traceId ?? newTraceId(),
    spanId: newSpanId(),
    requestId: origin.requestId ?? now?.requestId ?? null,
    isBackground: now?.isBackground ?? false,
    fields: { ...now?.fields, ...fields },
    invocation: now?.invocation ?? { host: undefined, isOver: true },
  };
  return works.run(next, run);
}

/** Adds fields to all later log lines of the current work. */
export function noteWork(fields: WorkFields): void {
  const now = works.getStore();
  if (now !== undefined) now.fields = { ...now.fields, ...fields };
}

/** Runs something that outlives the work that starts it, such as a timer or a cache. */
export const outsideWork = works.exit.bind(works);

/** Reports whether no caller waits for the current work: it is a worker's or a timer's. */
export function isInBackground(): boolean {
  return works.getStore()?.isBackground === true;
}

/** Fields of the current work, for a log line. */
export function workFields(): WorkFields {
  const now = works.getStore();
  if (now === undefined) return {};
  const { requestId, traceId, fields } = now;
  return { ...(requestId === null ? {} : { requestId }), traceId, ...fields };
}

/** Returns the origin to store in a row that is written now. */
export function currentOrigin(): Origin {
  const { traceId, requestId } = works.getStore() ?? NO_ORIGIN;
  return { traceId, requestId };
}

/** Returns the trace header for our own workers, with this step as the parent. */
export function currentTraceParent(): string | undefined {
  const now = works.getStore();
  return now === undefined ? undefined : formatTraceParent(now);
}

/** Returns the trace header for a call to another service. Each call is a step of its own. */
export function traceParentOfCall(): string | undefined {
  const now = works.getStore();
  return now === undefined
    ? undefined
    : formatTraceParent({ traceId: now.traceId, spanId: newSpanId() });
}

/** Returns the current invocation. It is undefined after the end, when the host accepts no more lines. */
export function currentInvocation(): Invocation | undefined {
  const invocation = works.getStore()?.invocation;
  return invocation?.isOver === false ? invocation.host : undefined;
}

const SHOWN = ["kind", "platformId", "profileId", "postId", "endpointId", "deliveryId"] as const;
const ID_LENGTH_MAX = 64;

function messageText(message: unknown, name: string): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const value: unknown = Reflect.get(message, name);
  return typeof value === "string" ? value : undefined;
}

export function traceOfHint(message: unknown): string | undefined {
  return messageText(message, "trace");
}

/** Reads the ids from a message of any form, so that a log search also finds messages that no worker could read. */
export function hintFields(message: unknown): WorkFields {
  const found = SHOWN.flatMap((name) => {
    const value = messageText(message, name);
    return value === undefined || value.length > ID_LENGTH_MAX ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
