import { z } from "zod";
import { endsLegs, type FindingCode } from "../src/shared/networks/contract/errors.ts";
import { inWords } from "../src/shared/networks/wording.ts";
import { bad, good, soft, strong, uncertain } from "./terminal-style.ts";

const LogLine = z.looseObject({
  at: z.string(),
  level: z.enum(["debug", "info", "warn", "error"]),
  message: z.string(),
  rule: z.string().nullish(),
  field: z.string().nullish(),
  values: z.record(z.string(), z.union([z.string(), z.number()])).nullish(),
});
type LogLine = z.output<typeof LogLine>;

/** A post that a network shows, as far as a line tells of it. */
interface Shown {
  readonly network: string;
  readonly account: { readonly username: string };
  readonly id: string;
  readonly url: string;
  readonly page: string;
}

export interface Surroundings {
  /** What the sandbox networks show, for names and addresses that people can use. */
  readonly posts: () => readonly Shown[];
  /** The name of an account at a sandbox network, by the id that the relay logs. */
  readonly usernameOf: (network: string, accountId: string) => string | undefined;
  /** Where a browser finds the post on this machine. */
  readonly pageOf: (post: Shown) => string;
  /** What to do about a line, by its message. */
  readonly advice: ReadonlyMap<string, string>;
}

const NETWORK_WIDTH = 9;
const ACCOUNT_WIDTH = 28;
/** Shown elsewhere in the line, or of no use to a reader. */
const HIDDEN: ReadonlySet<string> = new Set(
  "at level message event requestId traceId platformId worker timer".split(" "),
);
const DETAIL_MAX = 200;
/** Means nothing on a machine that was switched off for a while. */
const FOR_OPERATORS: ReadonlySet<string> = new Set(["walk is behind"]);

function textOf(line: LogLine, name: string): string {
  const value = line[name];
  return typeof value === "string" ? value : "";
}

function timeOf(at: string): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

function cell(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}

function legLine(line: LogLine, account: string, state: string, rest: string): string {
  const cells = [cell(textOf(line, "network"), NETWORK_WIDTH), cell(account, ACCOUNT_WIDTH)];
  return `${soft(timeOf(line.at))}  ${cells.join(" ")} ${state}  ${rest}`;
}

/** The account's name, or its id where the sandbox does not know it. */
function accountOf(line: LogLine, { usernameOf }: Surroundings): string {
  const id = textOf(line, "account");
  return usernameOf(textOf(line, "network"), id) ?? (id || "-");
}

function published(line: LogLine, surroundings: Surroundings): string {
  const url = textOf(line, "url");
  const ids = [textOf(line, "networkPostId"), url];
  const network = textOf(line, "network");
  const shown = surroundings
    .posts()
    .find((post) => post.network === network && (ids.includes(post.id) || ids.includes(post.url)));
  const account = shown?.account.username ?? accountOf(line, surroundings);
  const address = shown === undefined ? url : surroundings.pageOf(shown);
  return legLine(line, account, good("published"), address);
}

/** Says what the API says of the leg: the sentences of the rule, and with its numbers. */
function sentencesOf(line: LogLine): string {
  const { rule = null, field = null, values } = line;
  // Safe: only a code passes.
  const code = textOf(line, "reason") as FindingCode;
  if (!endsLegs(code)) return "";
  const found = { code, rule, field, values: values ?? {} };
  const { message, remediation } = inWords(found, {
    network: textOf(line, "network"),
    locale: "en",
  });
  return `${message} ${remediation}`;
}

function failed(line: LogLine, surroundings: Surroundings): string {
  const reason = textOf(line, "reason");
  const code = textOf(line, "networkCode");
  const said = code === "" ? reason : `${reason} (${code})`;
  const rest = `${strong(said)} ${sentencesOf(line)}`.trimEnd();
  return legLine(line, accountOf(line, surroundings), bad("failed   "), rest);
}

function delayed(line: LogLine, surroundings: Surroundings): string {
  const reason = textOf(line, "reason");
  const next = reason === "outcome_unknown" ? "looks for the post" : "again";
  const rest = `${reason}, ${next} at ${timeOf(textOf(line, "until"))}`;
  return legLine(line, accountOf(line, surroundings), uncertain("waits    "), rest);
}

function details(line: LogLine): string {
  const shown = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => {
      const isError = name === "error" && typeof value === "object" && value !== null;
      const said: unknown = isError && "message" in value ? value.message : value;
      return `${name}=${typeof said === "string" ? said : JSON.stringify(said)}`;
    });
  const text = shown.join(" ");
  return text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text;
}

function trouble(line: LogLine, { advice }: Surroundings): string {
  const level = line.level === "error" ? bad("error    ") : uncertain("warning  ");
  const head = `${soft(timeOf(line.at))}  ${level} ${strong(line.message)} ${soft(details(line))}`;
  const todo = advice.get(line.message);
  return todo === undefined ? head : `${head}\n          → ${todo}`;
}

/** Here an endpoint is a developer's own program: the runbook's advice is for operators. */
function unanswered(line: LogLine): string {
  const head = `${soft(timeOf(line.at))}  ${uncertain("webhook  ")} ${textOf(line, "endpointId")}`;
  return `${head} does not answer. Start its program (the demo's is npm run listen): what waits is sent then.`;
}

const LEG_LINES = new Map([
  ["leg published", published],
  ["leg failed", failed],
  ["leg delayed", delayed],
]);

/** A line of the app's log, or undefined where the text is something else. */
function parsed(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return LogLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * What the terminal shows of a line of the host: each publish as it happens, and trouble with what to do about it.
 * Undefined for everything that only the log file keeps.
 */
export function terminalLine(
  text: string,
  stream: "stdout" | "stderr",
  surroundings: Surroundings,
): string | undefined {
  const line = parsed(text);
  if (line === undefined) return stream === "stderr" ? text : undefined;
  const ofLeg = LEG_LINES.get(line.message);
  if (ofLeg !== undefined) return ofLeg(line, surroundings);
  if (FOR_OPERATORS.has(line.message)) return undefined;
  if (line.message === "webhook circuit opened") return unanswered(line);
  return line.level === "warn" || line.level === "error" ? trouble(line, surroundings) : undefined;
}
