import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { withTables } from "../../dev/readme-tables.ts";
import { routes } from "../../src/functions/routes.ts";
import { SETTINGS } from "../../src/shared/settings.ts";

const readme = readFileSync("README.md", "utf8");
const Scripts = z.object({ scripts: z.record(z.string(), z.string()) });
const { scripts } = Scripts.parse(JSON.parse(readFileSync("package.json", "utf8")));

/** The text of a link's target, as the editors' outline and the forges make it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/\s/g, "-");

// Stale: run `npx node dev/readme-tables.ts`.
test("the README's tables are those that the code makes", async () => {
  expect(await withTables(readme)).toBe(readme);
});

test("every route and every setting is in the README once", () => {
  for (const { method, path } of routes) {
    const row = new RegExp(`^\\| ${method} +\\| \`/${path.replace(/[{}.]/g, "\\$&")}\` +\\|`, "gm");
    expect(readme.match(row), `${method} /${path}`).toHaveLength(1);
  }
  for (const name of Object.keys(SETTINGS))
    expect(readme.match(new RegExp(`^\\| \`${name}\` +\\|`, "gm")), name).toHaveLength(1);
});

test.each(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])(
  "%s names only npm scripts that exist, and links only to what is there",
  (file) => {
    const text = readFileSync(file, "utf8");
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:)([^)]+)\)/g)].map(
      ([, target = ""]) => target,
    );
    for (const target of targets) {
      const [path = "", heading] = target.split("#");
      const linked = readFileSync(path === "" ? file : path, "utf8");
      if (heading === undefined) continue;
      const headings = [...linked.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => anchor(title));
      expect(headings, target).toContain(heading);
    }
  },
);

test("CONTRIBUTING.md names only files and folders that exist", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const named = [...text.matchAll(/`((?:src|dev|test|bench)(?:\/[\w.-]+)+)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

// What arrives has to leave the list.
test("what the README calls missing is missing", () => {
  const section = readme.split("## What is not there yet")[1]?.split("\n## ")[0] ?? "";
  const missing = [...section.matchAll(/`([A-Z]+) \/(\S+)`/g)];
  expect(missing.length).toBeGreaterThan(0);
  const there = routes.map(({ method, path }) => `${method} ${path}`);
  for (const [, method = "", path = ""] of missing)
    expect(there).not.toContain(`${method} ${path}`);
});
