import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { HOST_SETTINGS } from "../../tools/host-settings.ts";
import { GENERATED, withTables } from "../../tools/document-tables.ts";
import { routes } from "../../src/functions/routes.ts";
import { SETTINGS } from "../../src/shared/config/settings.ts";
import { DOCUMENTS } from "./blocks.ts";

const FIRST_PAGE_BYTES_MAX = 8_192;
const PICTURE_BYTES_MAX = 150_000;

const readme = readFileSync("README.md", "utf8");
const Package = z.object({
  scripts: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }),
});
const { scripts, engines } = Package.parse(JSON.parse(readFileSync("package.json", "utf8")));

/** Every file of the repository with a certain ending, no matter who reads it. */
const filesOf = (folders: readonly string[], ending: RegExp): string[] =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => ending.test(name) && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  );

const MARKDOWN = [
  ...readdirSync(".").filter((name) => name.endsWith(".md")),
  ...filesOf(
    ["bench", "clients", "dev", "docs", "examples", "infra", "sandbox", "test", "tools"],
    /\.md$/,
  ),
];

/** Read by scripts and examples, or put into a shell by `azd`, and never read by the app. */
const OTHER_NAMES =
  /^(?:(?:RELAY|AZURE|AZURITE)_\w*|(?:SANDBOX_|ISSUER_|SMTP_|LISTEN_)?PORT|LOCAL_FOLDER|SNAC_BIN|VERBOSE|SEEDS?)$/;
/** Words of others that look like a setting. */
const OTHER_WORDS =
  /^(?:FEATURES|API_KEY|PROFILE_KEY|PUBLIC|CONNECTIONS|POST|EVENT_TYPES|MODULES)$/;

/** The text of a link's target, as the editors' outline and the forges make it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/\s/g, "-");

/** Returns the targets of a document's links, without those that leave the repository. */
function linksOf(text: string): string[] {
  const links = /(?:\]\(|src=")(?!https?:|mailto:|urn:)([^)"]+)/g;
  // What is code, such as a pattern of a network's words, links to nothing.
  const prose = text.replaceAll(/`[^`\n]+`/g, (code) => (code.includes("](") ? "" : code));
  return [...prose.matchAll(links)].map(([, target = ""]) => target);
}

// Stale: run `npm run tables`.
test.each(Object.keys(GENERATED))(
  "the tables of %s are those that the code makes",
  async (path) => {
    const text = readFileSync(path, "utf8");
    expect(await withTables(path, text)).toBe(text);
  },
);

test("README and CONTRIBUTING are short enough to be read", () => {
  for (const page of ["README.md", "CONTRIBUTING.md"])
    expect(statSync(page).size, page).toBeLessThanOrEqual(FIRST_PAGE_BYTES_MAX);
});

test("a page that begins with its contents lists all of its sections there", () => {
  const incomplete = DOCUMENTS.flatMap((page) => {
    const [start = "", ...sections] = readFileSync(page, "utf8")
      .replaceAll(/^```.*?^```/gms, "")
      .split(/^## /m);
    const listed = [...start.matchAll(/^- \[.*\]\(#(.+)\)$/gm)].map(([, target = ""]) => target);
    const own = sections.map((section) => anchor(section.split("\n")[0] ?? ""));
    return listed.length === 0 || String(listed) === String(own) ? [] : [{ page, listed, own }];
  });
  expect(incomplete).toEqual([]);
});

test("the README's pictures are small, and described to those who do not see them", () => {
  const images = [
    ...readme.matchAll(/!\[(?<alt>[^\]]*)\]\((?<path>[^)]+)\)/g),
    ...readme.matchAll(/<img src="(?<path>[^"]+)"[^>]* alt="(?<alt>[^"]*)"/g),
  ].map(({ groups }) => ({ path: groups?.["path"] ?? "", alt: groups?.["alt"] ?? "" }));
  expect(images.map(({ path }) => path).sort()).toEqual(
    filesOf(["docs/pictures"], /\.png$/).sort(),
  );
  for (const { path, alt } of images) {
    expect(statSync(path).size, path).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
    expect(alt.length, path).toBeGreaterThan(40);
  }
});

test("every route and every setting is in the reference once", () => {
  const reference = (name: string) => readFileSync(`docs/reference/${name}.md`, "utf8");
  const [inRoutes, inSettings] = [reference("routes"), reference("settings")];
  for (const { method, path } of routes) {
    const row = new RegExp(`^\\| ${method} +\\| \`/${path.replace(/[{}.]/g, "\\$&")}\` +\\|`, "gm");
    expect(inRoutes.match(row), `${method} /${path}`).toHaveLength(1);
  }
  for (const name of Object.keys(SETTINGS))
    expect(inSettings.match(new RegExp(`^\\| \`${name}\` +\\|`, "gm")), name).toHaveLength(1);
});

test("the Node that readers are told to have is the one that packages ask for", () => {
  const wanted = engines.node.replace(">=", "");
  const told = MARKDOWN.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/Node (\d+(?:\.\d+)*) or (?:later|newer)/g)].map(
      ([, version = ""]) => `${file}: ${version}`,
    ),
  );
  expect(told.length).toBeGreaterThan(2);
  expect(told.filter((line) => !line.endsWith(`: ${wanted}`))).toEqual([]);
});

test.each(MARKDOWN)(
  "%s names only npm scripts that exist, and links only to what is there",
  (file) => {
    const text = readFileSync(file, "utf8");
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    for (const target of linksOf(text)) {
      const [path = "", heading] = target.split("#");
      const linked = path === "" ? file : join(dirname(file), path);
      expect(existsSync(linked), target).toBe(true);
      if (heading === undefined) continue;
      const headings = [...readFileSync(linked, "utf8").matchAll(/^#+ (.+)$/gm)];
      expect(
        headings.map(([, title = ""]) => anchor(title)),
        target,
      ).toContain(heading);
    }
  },
);

test("pages that say what readers need say it for Windows, too", () => {
  const asking = MARKDOWN.filter((path) =>
    /\bYou need .*\bNode\b/.test(readFileSync(path, "utf8")),
  );
  expect(asking).toContain("README.md");
  const silent = asking.filter((path) => !readFileSync(path, "utf8").includes("Windows"));
  expect(silent).toEqual([]);
});

test("links lead from the README to every page", () => {
  const found = new Set(["README.md"]);
  for (const file of found)
    for (const target of linksOf(readFileSync(file, "utf8"))) {
      const linked = join(dirname(file), target.split("#")[0] ?? "");
      if (linked.endsWith(".md")) found.add(linked);
    }
  expect(MARKDOWN.filter((file) => !found.has(file))).toEqual([]);
});

test("code and documents name only documents that exist", () => {
  const files = [
    ...MARKDOWN,
    ...filesOf(["src", "sandbox", "dev", "tools", "infra", "test"], /\.(?:ts|bicep|json)$/),
  ];
  const named = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\bdocs\/[\w/-]+\.(?:md|png)\b/g)].map(
      ([path]) => path,
    ),
  );
  expect(named.length).toBeGreaterThan(30);
  expect([...new Set(named)].filter((path) => !existsSync(path))).toEqual([]);
});

/** Whether a path of a text, such as `/v1/posts/{postId}`, is one of the product's. */
const isRoute = (method: string, path: string) =>
  routes.some((route) => route.method === method && `/${route.path}` === path);

test.each(DOCUMENTS.filter((file) => file !== "README.md"))(
  "%s names only routes that exist",
  (file) => {
    const text = readFileSync(file, "utf8");
    const named = [...text.matchAll(/`(GET|POST|PATCH|DELETE) (\/v1\/[\w{}./-]+)/g)];
    expect(
      named.filter(([, method = "", path = ""]) => !isRoute(method, path)).map(([all]) => all),
    ).toEqual([]);
  },
);

/** Names the networks' own codes in capitals. */
const CODES_OF_NETWORKS = "docs/reference/network-answers.md";

const naming = DOCUMENTS.filter((file) => file !== CODES_OF_NETWORKS);

test.each(naming)("%s names only settings that exist", (file) => {
  const known = new Set([...Object.keys(SETTINGS), ...Object.keys(HOST_SETTINGS)]);
  const named = [...readFileSync(file, "utf8").matchAll(/`([A-Z][A-Z_]{3,})(?:=[^`]*)?`/g)];
  const isKnown = (name: string) =>
    known.has(name) || OTHER_NAMES.test(name) || OTHER_WORDS.test(name);
  expect(named.map(([, name = ""]) => name).filter((name) => !isKnown(name))).toEqual([]);
});

test.each([...DOCUMENTS, "CHANGELOG.md"])("%s names no place of somebody's machine", (file) => {
  expect(readFileSync(file, "utf8")).not.toMatch(/\/(?:work|root|home|Users|tmp)\//);
});

test("documents name only files and folders that exist", () => {
  const places = /`((?:src|sandbox|dev|tools|test|bench|docs|examples|infra)(?:\/[\w.-]+)+)`/g;
  const named = DOCUMENTS.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(places)].map(([, path = ""]) => ({ file, path })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(path))).toEqual([]);
});

const INDENT = 2;
const DEPTH_MAX = 3;

test("CONTRIBUTING.md's tree is that of the repository", () => {
  const tree =
    /^```text\n([\s\S]*?)^```$/m.exec(readFileSync("CONTRIBUTING.md", "utf8"))?.[1] ?? "";
  const parents: string[] = [];
  const named: string[] = [];
  for (const line of tree.split("\n")) {
    const indented = /^( *)([\w./-]+(?: [\w./-]+\/)*)/.exec(line);
    if (indented === null) continue;
    const [, indent = "", first = ""] = indented;
    const depth = indent.length / INDENT;
    // Continuations of a remark stand far to the right.
    if (depth > DEPTH_MAX) continue;
    const parent = parents.slice(0, depth).join("");
    if (first.endsWith("/")) parents[depth] = first;
    for (const name of first.split(" ")) named.push(parent + name);
  }
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

// What arrives has to leave the list.
test("what the README calls missing is missing", () => {
  const section = readme.split("## What is missing")[1]?.split("\n## ")[0] ?? "";
  const missing = [...section.matchAll(/no `([A-Z]+) (\/\S+)`/g)];
  expect(missing.length).toBeGreaterThan(0);
  for (const [, method = "", path = ""] of missing) expect(isRoute(method, path)).toBe(false);
});
