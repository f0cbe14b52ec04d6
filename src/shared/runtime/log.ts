import { currentInvocation, workFields, type LogLevel } from "./telemetry/work-context.ts";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line carries these fields too. */
  with(fields: LogFields): Log;
}

const SECRET_NAME =
  /authorization|secret|token|password|api[-_]?key|^code$|^state$|signature|cookie|credential|pepper|jwt/i;
const SECRET_TEXT =
  /sk_live_[0-9A-Za-z_]{8,}|whsec_[0-9A-Za-z+/=]{8,}|eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;
const URLS = /(https?:\/\/[^\s"'?#]+)([?#][^\s"']*)?/g;
const DEPTH_MAX = 6;
const TEXT_MAX = 4_000;

/** What a log line may show of a value: no secret by its name or its form, no query of a URL, bounded in size. */
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
 * A line of an invocation goes to the host under its name, which files it with the operation; anything else goes to the
 * process's streams, which the host takes too: errors and warnings from stderr, the rest from stdout.
 */
function toHost(level: LogLevel, line: string): void {
  const invocation = currentInvocation();
  if (invocation !== undefined) invocation.write(level, line);
  else if (level === "error" || level === "warn") console.error(line);
  else console.log(line);
}

/** Structured lines, one JSON object each, redacted. Every line of a piece of work shows whose it is. */
export function createLog(options: { level: LogLevel; sink?: Sink }, fields: LogFields = {}): Log {
  const order: readonly LogLevel[] = ["debug", "info", "warn", "error"];
  const sink = options.sink ?? toHost;
  const write = (level: LogLevel) => (message: string, more?: LogFields) => {
    if (order.indexOf(level) < order.indexOf(options.level)) return;
    const shown = redact({ ...workFields(), ...fields, ...more }) as object;
    // Alerts find lines by their message: no field may take its place.
    const own = { at: new Date().toISOString(), level, message };
    sink(level, JSON.stringify({ ...own, ...shown, ...own }));
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (more) => createLog(options, { ...fields, ...more }),
  };
}
