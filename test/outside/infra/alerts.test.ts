import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { timers } from "../../../src/functions/timers.ts";
import { ofType, readSnapshot } from "./snapshot.ts";
import { WALKS } from "../../../src/shared/background/walks.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(resolve(ROOT, path), "utf8");

interface Alert {
  readonly name: string;
  readonly summary: string;
  readonly severity: number;
  readonly every: string;
  readonly window: string;
  readonly rowsMax: number;
  /** Messages of log lines that it looks for. */
  readonly events: readonly string[];
  readonly query: readonly string[];
}

const alerts = JSON.parse(read("infra/alerts.json")) as readonly Alert[];
const runbook = read("docs/operate/runbook.md");
const pages = readdirSync(resolve(ROOT, "docs/operate"))
  .map((name) => read(`docs/operate/${name}`))
  .join("\n");
const workbook = read("infra/workbook.json");
const sources = readdirSync(resolve(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => read(`src/${path}`));
const source = sources.join("\n");

/** Messages that the code logs. */
const messages = new Set(
  [...source.matchAll(/[lL]og\s*\.(?:info|warn|error)\(\s*"([^"]+)"/g)].map((match) => match[1]),
);

/** Messages that a query names. */
const messagesIn = (query: string) =>
  [...query.matchAll(/line\.message\) in \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, message = ""]) => message),
  );

/** What the files that log a line speak of, by its message: its fields are among it. */
const filesThatLog = (message: string) => sources.filter((text) => text.includes(`"${message}"`));

/** How a query gets at the lines: of the app, which are JSON, or of the host about a function. */
const START =
  /^(?:let lines = )?traces (?:\| extend line = parse_json\(message\) \| where isnotempty\(line\.message\)$|\| where message startswith "Executed 'Functions\.)/m;

/** Names of fields in a query that no line has of those that it asks for. */
function unknownFields(query: string, messages: readonly string[]): string[] {
  const fields = new Set([...query.matchAll(/\bline\.(\w+)/g)].map(([, name = ""]) => name));
  const texts = messages.flatMap(filesThatLog);
  const everywhere = ["message", "level"];
  return [...fields].filter(
    (name) =>
      !everywhere.includes(name) && !texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
  );
}

/** Names of the rules on metrics; one on each account has its number behind it. */
const metricAlerts = ofType(readSnapshot("small"), "Microsoft.Insights/metricAlerts").map(
  ({ name }) => name.replace(/-\d$/, ""),
);

/** Lengths of time that Azure takes for rules on logs. */
const PERIODS = ["PT5M", "PT15M", "PT30M", "PT1H", "PT6H", "P1D"];
const minutesOf = (period: string) =>
  Number(/\d+/.exec(period)?.[0]) * (period === "P1D" ? 1440 : period.endsWith("H") ? 60 : 1);

describe.each(alerts)("the alert $name", (alert) => {
  const query = alert.query.join("\n");

  test("looks for lines that the code writes", () => {
    expect(alert.events.filter((event) => !messages.has(event))).toEqual([]);
    for (const event of alert.events) expect(query).toContain(`"${event}"`);
  });

  test("names in its query no line that it does not list", () => {
    expect(new Set(messagesIn(query))).toEqual(new Set(alert.events));
  });

  test("reads the lines as they arrive, and fields that they have", () => {
    expect(query).toMatch(START);
    expect(unknownFields(query, alert.events)).toEqual([]);
  });

  test("an alert is looked at in periods that Azure takes, none of which is passed over", () => {
    expect(PERIODS).toContain(alert.every);
    expect(PERIODS).toContain(alert.window);
    expect(minutesOf(alert.every)).toBeLessThanOrEqual(minutesOf(alert.window));
    expect([0, 1, 2, 3]).toContain(alert.severity);
  });
});

describe("the runbook", () => {
  test("the runbook has a section for every alert, and none for what is no alert", () => {
    const sections = [...runbook.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? "");
    const names = [...alerts.map(({ name }) => name), ...new Set(metricAlerts)];
    expect(sections.toSorted()).toEqual(names.toSorted());
    expect(metricAlerts.length).toBeGreaterThan(2);
  });

  test("says of every alert what causes it and what to do", () => {
    for (const section of runbook.split(/^## /m).slice(1)) {
      expect(section).toMatch(/^Cause: ./m);
      expect(section).toMatch(/^Action: ./m);
    }
  });

  test("speaks of the timer and of walks that exist, and names each of them", () => {
    const timer = timers.map(({ name }) => name);
    const ofTimer = [...pages.matchAll(/timer `([\w-]+)`/g)].map((match) => match[1] ?? "");
    expect(new Set(ofTimer)).toEqual(new Set(timer));
    expect(alerts.map(({ query }) => query.join()).join()).toContain(`'Functions.${timer.join()}'`);
    const walks = WALKS.map(({ name }) => name);
    const named = [...pages.matchAll(/walk `([\w-]+)`/g)].map((match) => match[1] ?? "");
    expect(named.filter((name) => !walks.includes(name))).toEqual([]);
    const listed = [...pages.matchAll(/^\| `([a-z]+-[a-z-]+)` +\|/gm)].map((match) => match[1]);
    expect(walks.filter((name) => !listed.includes(name))).toEqual([]);
  });
});

describe("what is asked for arrives by the levels of host.json:", () => {
  const { logLevel } = (
    JSON.parse(read("host.json")) as {
      logging: { logLevel: Readonly<Record<string, string>> };
    }
  ).logging;
  const queries = [...alerts.map(({ query }) => query.join("\n")), workbook, pages];

  /** The level of the longest name that fits, as the host decides it; a star stands for any text. */
  function levelOf(category: string): string | undefined {
    const fits = (name: string) => {
      const [start = "", end = ""] = name.split("*");
      return category.startsWith(start) && category.endsWith(end);
    };
    const names = Object.keys(logLevel).filter((name) => name !== "default" && fits(name));
    const longest = names.toSorted((left, right) => right.length - left.length)[0];
    return logLevel[longest ?? "default"];
  }

  test("lines of the app", () => {
    for (const name of ["publishing", "get-v1-posts", "unrouted"])
      expect(levelOf(`Function.${name}.User`)).toBe("Information");
  });

  test("the host's lines about a function only where an alert reads them", () => {
    const read = queries.flatMap((query) =>
      [...query.matchAll(/Executed 'Functions\.([\w-]+)'/g)].map((match) => match[1]),
    );
    expect(read.length).toBeGreaterThan(0);
    for (const name of read) expect(levelOf(`Function.${name}`)).toBe("Information");
    expect(levelOf("Function.publishing")).toBe("Warning");
    expect(levelOf("Function.get-v1-posts")).toBe("Warning");
  });

  test("no successful call, which the host would write to `requests`", () => {
    expect(levelOf("Host.Results")).toBe("Warning");
    for (const query of queries) expect(query).not.toMatch(/\brequests \|/);
  });

  test("no line of the host's own storage client, a hundred and more a second", () => {
    expect(levelOf("Azure.Core")).toBe("Error");
    expect(levelOf("Azure.Core.1")).toBe("Error");
  });
});

describe("the workbook", () => {
  const queries = (JSON.parse(workbook) as { items: { content: { query?: string } }[] }).items
    .flatMap(({ content }) => content.query ?? [])
    .map((query) => [query, messagesIn(query)] as const);

  test("asks for lines that the code writes", () => {
    const named = queries.flatMap(([, names]) => names);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((message) => !messages.has(message))).toEqual([]);
  });

  test("reads them as they arrive, and fields that they have", () => {
    for (const [query, names] of queries) {
      expect(query).toMatch(START);
      if (names.length > 0) expect(unknownFields(query, names), query).toEqual([]);
    }
  });
});
