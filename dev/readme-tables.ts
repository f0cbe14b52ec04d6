import { readFile, writeFile } from "node:fs/promises";
import { format } from "prettier";
import { routes } from "../src/functions/routes.ts";
import { SETTINGS } from "../src/shared/settings.ts";

const README = "README.md";

/** Who may call, in the words of a reader, by the name of the route's access rule. */
const CALLERS: Readonly<Record<string, string>> = {
  anyone: "anyone",
  keyOrSession: "key, session",
  applicationScope: "key, session",
  appAdmin: "app_admin key, session",
  appAdminOfApplication: "app_admin key, session",
  sessionOnly: "session",
  profileScope: "key, session",
  activeProfileScope: "key, session",
  connectSessionScope: "key, session",
  operator: "operator",
};

function caller(access: string): string {
  const roles = /^operator\((.+)\)$/.exec(access)?.[1];
  if (roles !== undefined) return `operator: ${roles.replace(", ", " or ")}`;
  const words = CALLERS[access];
  if (words === undefined) throw new Error(`who may call by "${access}"? Say it in CALLERS`);
  return words;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback === null || fallback === "" ? "" : `\`${fallback}\``,
    about,
  ]);
  return table(["Setting", "Default", "Meaning"], rows);
}

function routesTable(): string {
  const rows = routes.map(({ method, path, spec }) => [
    method,
    `\`/${path}\``,
    caller(spec.access.name),
    spec.summary.replace(/\.$/, ""),
  ]);
  return table(["Method", "Path", "Who", "What"], rows);
}

function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}: generated -->`, `<!-- ${name}: end -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${README} has no "${start}" … "${end}"`);
  return `${text.slice(0, from)}${start}\n\n${content}\n\n${text.slice(to)}`;
}

/** The README with its tables as the code has them now. */
export async function withTables(readme: string): Promise<string> {
  const text = between(readme, "routes", routesTable());
  return format(between(text, "settings", settingsTable()), {
    parser: "markdown",
    printWidth: 100,
  });
}

if (import.meta.main) await writeFile(README, await withTables(await readFile(README, "utf8")));
