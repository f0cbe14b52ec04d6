import { currentInvocation, workFields, type LogLevel } from "./telemetry/work-context.ts";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

const SECRET_NAME =
  /authorization|secret|token|password|api[-_]?key|^code$|^state$|signature|cookie|credential|pepper|jwt/i;
const SECRET_TEXT =
  /sk_live_[0-9A-Za-z_]{8,}|whsec_[0-9A-Za-z+/=]{8,}|eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;
const URLS = /(https?:\/\/[^\s"'?#]+)([?#][^\s"']*)?/g;
const DEPTH_MAX = 6;
const TEXT_MAX = 4_000;

/** Removes secrets (by name or form) and the queries of URLs from a value, and limits its size. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") {
    return value
      .slice(0, TEXT_MAX)
      .replace(SECRET_TEXT, "[redacted]")
      .replace(URLS, (_url, address: string, query?: string) =>
        query === undefined ? address : `${address}?[redacted]`,
      );
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return "[deep]";
  if (value instanceof Error) {
    return {
      name: value.name,
      message: redact(value.message, depth + 1),
      stack: redact(value.stack, depth + 1),
      ...("code" in value ? { code: redact(value.code, depth + 1) } : {}),
      ...(value.cause === undefined ? {} : { cause: redact(value.cause, depth + 1) }),
    };
  }
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_NAME.test(name) && typeof item === "string" ? "[redacted]" : redact(item, depth + 1),
    ]),
  );
}

type Sink = (level: LogLevel, line: string) => void;

/**
 * Makes a log of redacted JSON lines. Each line has the fields of the current work, such as the request's id. Without a
 * sink, it goes to the host's log of the current invocation, which stores it with the operation. Other lines go to the
 * streams of the process, which the host reads too: errors and warnings to stderr, the rest to stdout.
 */
export function createLog(options: { level: LogLevel; sink?: Sink }, fields: LogFields = {}): Log {
  const order: readonly LogLevel[] = ["debug", "info", "warn", "error"];
  const write = (level: LogLevel) => (message: string, more?: LogFields) => {
    if (order.indexOf(level) < order.indexOf(options.level)) return;
    const shown = redact({ ...workFields(), ...fields, ...more }) as object;
    // Alerts find lines by their message, so no field may replace it.
    const own = { at: new Date().toISOString(), level, message };
    const line = JSON.stringify({ ...own, ...shown, ...own });
    const invocation = currentInvocation();
    if (options.sink !== undefined) options.sink(level, line);
    else if (invocation !== undefined) invocation.write(level, line);
    else if (level === "error" || level === "warn") console.error(line);
    else console.log(line);
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (more) => createLog(options, { ...fields, ...more }),
  };
}
