import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { timers } from "../../src/functions/timers.ts";
import { workers } from "../../src/functions/workers.ts";
import {
  blockAt,
  keysOf,
  namesOf,
  parseBicep,
  readBicep,
  requiredParams,
  type BicepFile,
} from "./bicep.ts";

const INFRA = resolve(import.meta.dirname, "../../infra");
const files = readdirSync(INFRA, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.bicep(param)?$/.test(path))
  .toSorted();
const templates = files.filter((path) => path.endsWith(".bicep"));
const read = (path: string) => readBicep(resolve(INFRA, path));

/** Functions of the language and its namespaces that the templates use. */
const FUNCTIONS = new Set(
  "contains empty guid join loadJsonContent loadTextContent mapValues subscription subscriptionResourceId toLower toObject union uniqueString".split(
    " ",
  ),
);

/** Names that hold within an expression only: of loops and lambdas. */
function localsOf({ text }: BicepFile): string[] {
  const loops = [...text.matchAll(/for \(?(\w+)(?:, (\w+)\))? in /g)].flatMap((match) =>
    match.slice(1),
  );
  const lambdas = [...text.matchAll(/(\w+) =>/g)].map((match) => match[1]);
  return [...loops, ...lambdas].filter((name) => name !== undefined);
}

function unknownNames(file: BicepFile): string[] {
  const declared = namesOf(file, "param", "var", "resource", "module", "type", "import");
  const known = new Set([...declared, ...localsOf(file), ...FUNCTIONS, ...namesOf(file, "output")]);
  return [...file.uses.keys()].filter((name) => !known.has(name));
}

/** Each name is counted where it is declared, too. */
function unusedNames(file: BicepFile): string[] {
  return namesOf(file, "param", "var").filter((name) => (file.uses.get(name) ?? 0) < 2);
}

describe("the reader of templates", () => {
  const template = "param name string\nvar full = '${name}-x'\noutput id string = full\n";

  test("finds nothing wrong with a template that is right", () => {
    const file = parseBicep(template);
    expect([file.unbalanced, unknownNames(file), unusedNames(file)]).toEqual([undefined, [], []]);
    expect(requiredParams(file)).toEqual(["name"]);
    expect(requiredParams(parseBicep("param name string = 'x'\n"))).toEqual([]);
  });

  test("sees a bracket that is missing or another's", () => {
    expect(parseBicep("var a = [{ b: 1 }\n").unbalanced).toBe("line 1: [");
    expect(parseBicep("var a = [\n  1 }\n").unbalanced).toBe("line 2: }");
    expect(() => parseBicep("var a = 'x\n")).toThrow("line 1");
  });

  test("sees a name that is not there, within strings and branches too", () => {
    expect(unknownNames(parseBicep(template.replace("${name}", "${nam}")))).toEqual(["nam"]);
    expect(unknownNames(parseBicep("var a = true ? b : c\noutput x bool = a\n"))).toEqual([
      "b",
      "c",
    ]);
  });

  test("sees what is declared and not used", () => {
    expect(unusedNames(parseBicep(template.replace("${name}", "")))).toEqual(["name"]);
  });
});

describe.each(files)("%s", (path) => {
  const file = read(path);

  test("has a partner for every bracket", () => {
    expect(file.unbalanced).toBeUndefined();
  });

  test("declares no name twice", () => {
    const names = namesOf(file, "param", "var", "resource", "module", "type", "import");
    expect(names).toEqual([...new Set(names)]);
  });
});

describe.each(templates)("%s", (path) => {
  const file = read(path);

  test("names only what is there", () => {
    expect(unknownNames(file)).toEqual([]);
  });

  test("uses every parameter and variable it has", () => {
    expect(unusedNames(file)).toEqual([]);
  });

  test("gives modules what they need and nothing else, and asks them for what they have", () => {
    for (const { kind, name, body } of file.declarations) {
      if (kind !== "module") continue;
      const module = /'([^']+)'/.exec(body)?.[1] ?? "";
      const target = resolve(INFRA, dirname(path), module);
      expect(existsSync(target), target).toBe(true);
      const called = readBicep(target);
      const given = keysOf(body, "params:");
      expect(given.filter((param) => !namesOf(called, "param").includes(param))).toEqual([]);
      expect(requiredParams(called).filter((param) => !given.includes(param))).toEqual([]);
      const asked = [...file.text.matchAll(new RegExp(`\\b${name}\\.outputs\\.(\\w+)`, "g"))];
      for (const [, output] of asked) expect(namesOf(called, "output")).toContain(output);
    }
  });

  test("loads files that are there and are JSON", () => {
    for (const [, loaded] of file.text.matchAll(/load(?:Json|Text)Content\('([^']+)'\)/g))
      JSON.parse(readFileSync(resolve(INFRA, dirname(path), loaded ?? ""), "utf8"));
    for (const { kind, name, body } of file.declarations)
      if (kind === "import")
        expect(namesOf(readBicep(resolve(INFRA, dirname(path), body)), "type")).toContain(name);
  });
});

test("every module is used", () => {
  const { text } = read("main.bicep");
  const modules = templates.filter((path) => path.startsWith("modules/"));
  expect(modules.filter((path) => !text.includes(`'${path}'`))).toEqual([]);
  expect(modules.length).toBeGreaterThan(5);
});

describe("parameters", () => {
  const main = read("main.bicep");
  const known = namesOf(main, "param");
  const required = requiredParams(main);

  test.each(["small.bicepparam", "large.bicepparam"])("%s fits the template", (path) => {
    const file = read(path);
    const given = namesOf(file, "param");
    expect(given.filter((name) => !known.includes(name))).toEqual([]);
    expect(required.filter((name) => !given.includes(name))).toEqual([]);
    expect(file.declarations).toContainEqual(
      expect.objectContaining({ kind: "using", body: "main.bicep" }),
    );
  });

  test("main.parameters.json fits the template", () => {
    const text = readFileSync(resolve(INFRA, "main.parameters.json"), "utf8");
    const given = Object.keys((JSON.parse(text) as { parameters: object }).parameters);
    expect(given.filter((name) => !known.includes(name))).toEqual([]);
    expect(required.filter((name) => !given.includes(name))).toEqual([]);
  });
});

/** Built-in roles; https://learn.microsoft.com/azure/role-based-access-control/built-in-roles */
const ROLES: Readonly<Record<string, string>> = {
  "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
  "974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
  "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
  "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
  "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
  "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
};

describe("what the deployment grants", () => {
  test("is these roles and no other", () => {
    const used = templates
      .flatMap((path) => read(path).text.match(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g) ?? [])
      .toSorted();
    expect([...new Set(used)]).toEqual(Object.keys(ROLES).toSorted());
  });

  test("on the data account is the right to its tables alone", () => {
    const { text } = read("main.bicep");
    const data = blockAt(text, text.indexOf("{", text.indexOf("module dataStorage")));
    expect(/roles: \[([^\]]*)\]/.exec(data)?.[1]).toBe("'tableContributor'");
  });
});

describe("the deployment", () => {
  const all = templates.map((path) => read(path).text).join("\n");

  test.each([
    ["storage takes no shared key", /allowSharedKeyAccess: (\w+)/g, "false"],
    ["storage has no public blobs", /allowBlobPublicAccess: (\w+)/g, "false"],
    ["storage speaks TLS 1.2 at least", /minimumTlsVersion: '(\w+)'/g, "TLS1_2"],
    ["storage speaks HTTPS alone", /supportsHttpsTrafficOnly: (\w+)/g, "true"],
    ["the app speaks HTTPS alone", /httpsOnly: (\w+)/g, "true"],
    ["the app takes no password for deployments", /allow: (\w+)/g, "false"],
    ["the vault is by roles", /enableRbacAuthorization: (\w+)/g, "true"],
    ["the vault can't be purged", /enablePurgeProtection: (\w+)/g, "true"],
    ["telemetry takes no key", /DisableLocalAuth: (\w+)/g, "true"],
    ["the app runs on Flex Consumption", /name: '(FC\d)'/g, "FC1"],
    ["the app runs on Node 24", /runtime: \{ name: 'node', version: '(\d+)' \}/g, "24"],
  ])("%s", (_name, pattern, value) => {
    const found = [...all.matchAll(pattern)].map((match) => match[1]);
    expect(new Set(found)).toEqual(new Set([value]));
  });

  test("keeps no function awake that does not exist", () => {
    const awake = [...all.matchAll(/name: 'function:([\w-]+)'/g)].map((match) => match[1]);
    const known = [...workers, ...timers].map(({ name }) => name);
    expect(awake.length).toBeGreaterThan(0);
    expect(awake.filter((name) => !known.includes(name ?? ""))).toEqual([]);
  });

  test("asks nobody for an account's keys", () => {
    expect(all).not.toMatch(/listKeys|AccountKey=|@secure\(\)/);
  });
});
