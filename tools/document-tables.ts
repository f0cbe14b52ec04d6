import { readFile, writeFile } from "node:fs/promises";
import { format } from "prettier";
import { routes } from "../src/functions/routes.ts";
import { SETTINGS } from "../src/shared/config/settings.ts";
import {
  apiErrors,
  deliveryErrors,
  legErrors,
  warningCodes,
  linkProblems,
  mastodonServers,
  networkAnswers,
  networkLimits,
  networkOptions,
  networkRules,
  publicAnswers,
  rateCard,
} from "./guide-tables.ts";
import { HOST_SETTINGS } from "./host-settings.ts";
import { markdownTable } from "./markdown-table.ts";

/** Who may call, in the words of a reader, by the name of the route's access rule. */
const CALLERS: Readonly<Record<string, string>> = {
  anyone: "anyone",
  keyOrSession: "key, session",
  keyOrSessionOfApplication: "key, session",
  applicationScope: "key, session",
  appAdmin: "app_admin key, session",
  appAdminOfApplication: "app_admin key, session",
  appAdminInPath: "app_admin key, session",
  sessionOnly: "session",
  anySession: "session",
  profileScope: "key, session",
  activeProfileScope: "key, session",
  connectSessionScope: "key, session",
  profileOrApplication: "key, session",
  operator: "operator",
};

function caller(access: string): string {
  const roles = /^operator\((.+)\)$/.exec(access)?.[1];
  if (roles !== undefined) return `operator: ${roles.replace(", ", " or ")}`;
  const narrowed = /^(confirmed|ofOwner)\((.+)\)$/.exec(access);
  if (narrowed?.[2] !== undefined) {
    const [, kind, rule = ""] = narrowed;
    return kind === "ofOwner"
      ? caller(rule).replace("session", "owner's session")
      : `${caller(rule)} (confirmed)`;
  }
  const words = CALLERS[access];
  if (words === undefined) throw new Error(`who may call by "${access}"? Say it in CALLERS`);
  return words;
}

function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback === null || fallback === "" ? "" : `\`${fallback}\``,
    about,
  ]);
  const ofHost = Object.entries(HOST_SETTINGS).map(([name, about]) => [
    `\`${name}\``,
    "",
    `For the Functions host. ${about}`,
  ]);
  return markdownTable(["Setting", "Default", "Meaning"], [...rows, ...ofHost]);
}

function routesTable(): string {
  const rows = routes.map(({ method, path, spec }) => [
    method,
    `\`/${path}\``,
    spec.calledBy ?? caller(spec.access.name),
    spec.summary,
  ]);
  return markdownTable(["Method", "Path", "Who", "What"], rows);
}

/** By document, what is generated in it: the name of the section, and what makes it. */
export const GENERATED: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "docs/billing.md": { "rate card": rateCard },
  "docs/connect.md": { problems: linkProblems },
  "docs/errors.md": {
    "api errors": apiErrors,
    "leg errors": legErrors,
    warnings: warningCodes,
    "delivery errors": deliveryErrors,
  },
  "docs/local.md": { "public answers": publicAnswers },
  "docs/reference/network-answers.md": { answers: networkAnswers },
  "docs/reference/network-limits.md": {
    limits: networkLimits,
    servers: mastodonServers,
    options: networkOptions,
  },
  "docs/reference/network-rules.md": { rules: networkRules },
  "docs/reference/routes.md": { routes: routesTable },
  "docs/reference/settings.md": { settings: settingsTable },
};

function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}: generated -->`, `<!-- ${name}: end -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no "${start}" … "${end}"`);
  return `${text.slice(0, from)}${start}\n\n${content}\n\n${text.slice(to)}`;
}

/** A document with its tables as the code has them now. */
export async function withTables(path: string, text: string): Promise<string> {
  const sections = Object.entries(GENERATED[path] ?? {});
  const filled = sections.reduce((made, [name, make]) => between(made, name, make()), text);
  return format(filled, { parser: "markdown", printWidth: 100 });
}

if (import.meta.main)
  for (const path of Object.keys(GENERATED))
    await writeFile(path, await withTables(path, await readFile(path, "utf8")));
