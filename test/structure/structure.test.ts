import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { problemsOf, structureOf, type Limits, type Structure } from "../../tools/structure.ts";

const ORDER = ["publishing", "billing", "runtime"];
const LIMITS: Limits = {
  functionsPer10000Tokens: 300,
  functionsWithOneUse: 1,
  namesInTwoFiles: 1,
  participleTypes: 0,
  tokens: { publishing: 100, billing: 30, runtime: 60, functions: 10, other: 0 },
  queues: 1,
  rowKinds: { lease: ["leg"], record: ["post"] },
};
/** Sources with which every figure is within its limit, or 0. */
const SOUND: Readonly<Record<string, string>> = {
  "src/shared/publishing/deps.ts": "export interface PublishingDeps { a: 1 }\n",
  "src/shared/publishing/post-store.ts": 'rowCodec("post", {});\nrowCodec("leg", {});\n',
  "src/shared/publishing/accept/a.ts":
    'import "../read/b.ts";\nimport "../../billing/wallet.ts";\n',
  "src/shared/publishing/read/b.ts": "export const b = 1;\n",
  "src/shared/billing/deps.ts": "export interface BillingDeps { b: 1; c: 1 }\n",
  "src/shared/billing/wallet.ts": 'import "../runtime/log.ts";\n',
  "src/shared/runtime/log.ts": "export const log = 1;\n",
  "src/functions/workers.ts": "worker(PUBLISH_QUEUE, {});\n",
  "test/a.test.ts": "test();\n",
};
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function measured(changed: Readonly<Record<string, string>> = {}): Structure {
  const root = mkdtempSync(join(tmpdir(), "structure-"));
  folders.push(root);
  for (const [path, text] of Object.entries({ ...SOUND, ...changed })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return structureOf(root, ORDER);
}

test("finds nothing in sound sources", () => {
  const structure = measured();
  expect(problemsOf(structure, LIMITS)).toEqual([]);
  expect(structure).toMatchObject({
    figures: { functionsPer10000Tokens: 0, functionsWithOneUse: 0, namesInTwoFiles: 0 },
    rowKinds: ["leg", "post"],
    queues: ["PUBLISH_QUEUE"],
    foreignStores: [],
    folderCycles: [],
    importsUp: [],
  });
  expect(structure.deps.get("BillingDeps")).toEqual({ fields: 2, leaves: 2 });
});

const OTHER = "src/shared/runtime/other.ts";
const DEPS = "src/shared/publishing/deps.ts";
const deps = (name: string, fields: number) =>
  `interface ${name} { ${Array.from({ length: fields }, (_, index) => `f${index}: 1;`).join(" ")} }`;

test.each([
  ["tokens", { [OTHER]: "f();".repeat(20) }, "runtime has 106 tokens of at most 60"],
  [
    "tokens of a new module",
    { "src/shared/other/a.ts": "f();" },
    "other has 5 tokens of at most 0",
  ],
  [
    "functions",
    { [OTHER]: "const f=()=>1;const g=()=>1;const h=()=>1" },
    "functions in 10,000 tokens, of at most 300",
  ],
  [
    "functions with one use",
    { [OTHER]: "function f() {}\nfunction g() {}\nf();\ng();\nfunction i() {}" },
    "there are 2 functions of at most eight lines with one use, of at most 1",
  ],
  [
    "names in two files",
    {
      [OTHER]: "type A = 1;\nclass B {}\nfunction c() {}",
      "src/shared/billing/other.ts": "interface A {}\nfunction c() {}",
      "src/shared/networks/bluesky/other.ts": "class B {}",
    },
    "there are 2 names of functions, types and classes in two files, of at most 1",
  ],
  [
    "participles",
    { [OTHER]: "interface Sent {}\ninterface Loaded {}\ninterface Feed {}\nfunction Found() {}" },
    "there are 2 types named by a participle, of at most 0",
  ],
  ["queues", { [OTHER]: "worker(OTHER_QUEUE, {})" }, "there are 2 queues of at most 1"],
  ["deps", { [OTHER]: deps("NewDeps", 15) }, "NewDeps has 15 fields of at most 14"],
  ["row kinds", { [OTHER]: 'rowCodec("new", {})' }, 'the row kind "new" has no role'],
])("refuses what is beyond a limit: %s", (_, changed, problem) => {
  expect(problemsOf(measured(changed), LIMITS).join()).toContain(problem);
});

const USING = "src/shared/publishing/using.ts";
const up = 'import "../publishing/read/b.ts";';

test.each<[keyof Structure, Readonly<Record<string, string>>, string]>([
  [
    "foreignStores",
    { "src/shared/publishing/c.ts": 'import type { X } from "../billing/ledger-store.ts";' },
    "src/shared/publishing/c.ts -> src/shared/billing/ledger-store.ts",
  ],
  [
    "foreignStores",
    {
      "src/shared/billing/deps.ts":
        "export interface BillingDeps { b: 1; c: 1; stores: { d: number } }\n",
      [USING]:
        'import type { BillingDeps } from "../billing/deps.ts";\nexport const d = ({ stores }: BillingDeps) => stores.d;',
    },
    `${USING}:2 -> billing`,
  ],
  [
    "foreignStores",
    {
      "src/shared/billing/ledger-store.ts": "export class LedgerStore { read() {} }\n",
      "src/shared/billing/deps.ts":
        'import type { LedgerStore } from "./ledger-store.ts";\nexport interface BillingDeps { b: 1; ledger: LedgerStore }\n',
      [USING]:
        'import type { BillingDeps } from "../billing/deps.ts";\ntype Deps = { billing: BillingDeps };\nexport const r = (deps: Deps) => deps.billing.ledger.read();',
    },
    `${USING}:3 -> billing`,
  ],
  [
    "folderCycles",
    { "src/shared/publishing/read/b.ts": 'export * from "../accept/a.ts";' },
    "src/shared/publishing/accept ↔ src/shared/publishing/read",
  ],
  ["importsUp", { [OTHER]: up }, `${OTHER} -> src/shared/publishing/read/b.ts`],
  [
    "importsUp",
    { [OTHER]: 'await import("../billing/wallet.ts");' },
    `${OTHER} -> src/shared/billing/wallet.ts`,
  ],
])("counts and refuses %s", (figure, changed, place) => {
  const structure = measured(changed);
  expect(structure[figure]).toEqual([place]);
  expect(problemsOf(structure, LIMITS)).toContainEqual(expect.stringContaining(place));
});

test.each([
  ["other deps as what they hold", "billing: BillingDeps; b: 1", 3],
  ["a group as what it holds", "work: { d: 1; e: () => void }", 3],
  ["the verbs of a module as one", "verbs: { d: () => void; e: () => void }", 2],
])("counts %s", (_, fields, leaves) => {
  const text = `import type { BillingDeps } from "../billing/deps.ts"; export interface PublishingDeps { a: 1; ${fields} }`;
  expect(measured({ [DEPS]: text }).deps.get("PublishingDeps")?.leaves).toBe(leaves);
});

test("takes the limit of leaves from the file where one is said", () => {
  const group = Array.from({ length: 15 }, (_, index) => `f${index}: 1;`).join(" ");
  const structure = measured({ [DEPS]: `export interface NewDeps { a: { ${group} } }` });
  expect(problemsOf(structure, LIMITS).join()).toContain("NewDeps holds 15 things of at most 14");
  const depsLeaves = { NewDeps: { max: 15, why: "It has a reason." } };
  expect(problemsOf(structure, { ...LIMITS, depsLeaves })).toEqual([]);
});

const STORE = {
  "src/shared/billing/ledger-store.ts": "export class LedgerStore { read() {} }\n",
  "src/shared/billing/stores.ts":
    'import { LedgerStore } from "./ledger-store.ts";\nexport const stores = { ledger: new LedgerStore() };\n',
};

test.each([
  ["used", "stores.ledger.read();", 1],
  [
    "hidden behind the type of a property",
    "const a: { b: { ledger: object } } = { b: stores };",
    1,
  ],
  ["spread into another type", "const a: { ledger: { read(): void } } = { ...stores };", 1],
  ["hidden behind the type of a parameter", "((a: { ledger: object }) => a)(stores);", 1],
  ["given to a place that names it", "const a: { b: typeof stores } = { b: stores };", 0],
])("counts a store that is %s outside its module: %s", (_, use, times) => {
  const composing = `import { stores } from "./billing/stores.ts";\n${use}`;
  const { foreignStores } = measured({ ...STORE, "src/shared/compose.ts": composing });
  expect(foreignStores).toEqual(Array(times).fill("src/shared/compose.ts:2 -> billing"));
});

test("counts the fields that an interface picks of another one", () => {
  const picking = 'export interface PublishingDeps extends Pick<BillingDeps, "b"> { a: 1 }';
  expect(measured({ [DEPS]: picking }).deps.get("PublishingDeps")?.fields).toBe(2);
});
