import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BUILD_STAMP, hashOwnFiles, isBuildCurrent, stampBuild } from "../../tools/build-stamp.ts";

let root = "";

function put(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Builds as `tools/build.ts` does, as far as the stamp is concerned. */
function build(): void {
  const own = hashOwnFiles(root);
  put("dist/main.js", "built");
  put("dist/parts/part-1.js", "a part");
  stampBuild(root, own, {
    inputs: ["src/main.ts", "node_modules/pkg/index.js", `small:${root}/node_modules/pkg/core.js`],
    outputs: ["dist/main.js", "dist/parts/part-1.js"],
  });
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "stamped-"));
  put("src/main.ts", "start(1);");
  put("src/words/en.json", "{}");
  put("tools/build.ts", "build();");
  put("package.json", "{}");
  put("package-lock.json", "{}");
  put("node_modules/pkg/index.js", "exports.a = 1;");
  put("node_modules/pkg/core.js", "exports.b = 2;");
});
afterEach(() => rmSync(root, { recursive: true }));

test("a build is current as long as nothing that it was made from has changed", () => {
  expect(isBuildCurrent(root)).toBe(false);
  build();
  expect(isBuildCurrent(root)).toBe(true);
  put("docs/README.md", "Not of the build.");
  put(".local/demo.json", "{}");
  expect(isBuildCurrent(root)).toBe(true);
});

test.each<readonly [string, () => void]>([
  [
    "a source of the same length and time",
    () => {
      const path = join(root, "src/main.ts");
      const { atime, mtime } = statSync(path);
      writeFileSync(path, "start(2);");
      utimesSync(path, atime, mtime);
    },
  ],
  ["a new source", () => put("src/new.ts", "")],
  ["a source that is gone", () => rmSync(join(root, "src/words/en.json"))],
  [
    "a source under another name",
    () => {
      rmSync(join(root, "src/words/en.json"));
      put("src/words/fr.json", "{}");
    },
  ],
  ["the bundler's program", () => put("tools/build.ts", "build(2);")],
  ["the versions of packages", () => put("package-lock.json", '{"a":1}')],
  ["a file of a package", () => put("node_modules/pkg/index.js", "exports.a = 11;")],
  [
    "a file of a package that a plugin copies",
    () => rmSync(join(root, "node_modules/pkg/core.js")),
  ],
  ["a part of the build that is gone", () => rmSync(join(root, "dist/parts/part-1.js"))],
  ["a part of the build that is cut off", () => put("dist/main.js", "bui")],
  ["a stamp that can't be read", () => put(BUILD_STAMP, "{")],
  [
    "a stamp of another version of Node",
    () => {
      const stamp = readFileSync(join(root, BUILD_STAMP), "utf8");
      put(BUILD_STAMP, stamp.replace(process.version, "v1.0.0"));
    },
  ],
])("a build is not started again after a change: %s", (_what, change) => {
  build();
  change();
  expect(isBuildCurrent(root)).toBe(false);
});

test("a source that changes while the build runs makes it old", () => {
  const own = hashOwnFiles(root);
  put("src/main.ts", "start(2);");
  put("dist/main.js", "built");
  stampBuild(root, own, { inputs: ["src/main.ts"], outputs: ["dist/main.js"] });
  expect(isBuildCurrent(root)).toBe(false);
});
