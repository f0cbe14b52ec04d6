import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type Metafile, type Plugin } from "esbuild";
import type { BuildFacts } from "./build-facts.ts";
import { BUILD_STAMP, hashOwnFiles, stampBuild } from "./build-stamp.ts";

/** The app, and what it starts beside itself: the thread that hashes passwords and the process that reads files. */
const ENTRIES = {
  main: "src/main.ts",
  "password-worker": "src/shared/people/staff/password-worker.ts",
  "reading-child": "src/shared/media/reading-child.ts",
};

/** Loading all sources takes a second, and much longer on a busy machine. */
const FACTS_MS_MAX = 120_000;
/** The texts of the reference have two megabytes. */
const FACTS_BYTES_MAX = 16_000_000;

const FOLDER = "dist";
/** Where what is loaded when it is first needed lies, under names made of its content. */
const PARTS = "parts";
/** The documents at `/docs` and the like, as `http/reference/serve-reference.ts` reads them. */
export const REFERENCE = join(FOLDER, "reference.json");

/** Loaded when first needed, from the installed packages: native code or files of their own can't be bundled, and the rest is large. */
export const INSTALLED = ["sharp", "mediabunny", "tinypool", "libheif-js"];

/** Longer than a host that was started on an earlier build is left running, so that it still finds its parts. */
const STALE_MS = 24 * 3600 * 1000;

/** What `npm run package` gives: what is deployed must hold nothing of an earlier build. */
const PACKAGE_FLAG = "--package";

/**
 * The small form of the schema library as a copy of its own: every start loads it. Code is split by files, so that
 * files shared with the whole library would bring most of that along (a tenth of the start).
 */
const smallSchemas: Plugin = {
  name: "small-schemas",
  setup(bundler) {
    const namespace = "small-schemas";
    const copyOf = (path: string) => ({ path, namespace, sideEffects: false });
    bundler.onResolve({ filter: /^zod\/mini$/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === namespace) return undefined;
      const { kind, resolveDir } = from;
      const found = await bundler.resolve(path, { kind, resolveDir, pluginData: namespace });
      return found.errors.length > 0 ? found : copyOf(found.path);
    });
    bundler.onResolve({ filter: /^\./, namespace }, ({ path, importer }) =>
      copyOf(join(dirname(importer), path)),
    );
    bundler.onLoad({ filter: /.*/, namespace }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
    }));
  },
};

const execute = promisify(execFile);

async function readFacts(): Promise<BuildFacts> {
  const program = fileURLToPath(new URL("build-facts.ts", import.meta.url));
  const { stdout } = await execute(process.execPath, [program], {
    timeout: FACTS_MS_MAX,
    maxBuffer: FACTS_BYTES_MAX,
  });
  // Safe: that is what the program prints.
  return JSON.parse(stdout) as BuildFacts;
}

const toManifest = ({ manifest }: BuildFacts) =>
  Object.entries(manifest)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join("\n");

function toNames({ settingsByNetwork }: BuildFacts): string {
  const networks = Object.entries(settingsByNetwork).map(([network, exported], index) => ({
    network,
    exported,
    local: exported === null ? "undefined" : `settings${index}`,
  }));
  const imports = networks.map(({ network, exported, local }) =>
    exported === null ? "" : `import { ${exported} as ${local} } from "./${network}/settings.ts";`,
  );
  const entries = networks.map(({ network, local }) => `${JSON.stringify(network)}: ${local}`);
  return `${imports.join("\n")}
export const SETTINGS_BY_NETWORK = { ${entries.join(", ")} };
export const NETWORK_NAMES = Object.keys(SETTINGS_BY_NETWORK);`;
}

/** Modules that the build knows the outcome of, instead of all that it takes to get there. */
const WORKED_OUT: readonly {
  readonly filter: RegExp;
  readonly make: (facts: BuildFacts) => string;
}[] = [
  { filter: /[\\/]src[\\/]functions[\\/]manifest\.ts$/, make: toManifest },
  { filter: /[\\/]networks[\\/]names\.ts$/, make: toNames },
];

const workedOut = (facts: Promise<BuildFacts>): Plugin => ({
  name: "worked-out",
  setup(bundler) {
    for (const { filter, make } of WORKED_OUT)
      bundler.onLoad({ filter }, async () => ({ contents: make(await facts), loader: "js" }));
  },
});

/** `{ a, b as c, type D }` of an import or an export, without its types. */
const namesOf = (list: string) =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(" as "))
    .map(([name = "", alias = name]) => ({ name, alias }));

/** Returns where a module's public face has its exports from: by name, the statement that imports it under another. */
function exportsOf(face: string): ReadonlyMap<string, (local: string) => string> {
  const found = new Map<string, (local: string) => string>();
  for (const [, list = "", from = ""] of readFileSync(face, "utf8").matchAll(EXPORT))
    for (const { name, alias } of namesOf(list))
      found.set(alias, (local) => importOf(name, local, join(dirname(face), from)));
  return found;
}

const EXPORT = /^export \{([^}]*)\} from "(\.[^"]*)";$/gm;
const IMPORT = /^import \{([^}]*)\} from "(\.[^"]*\/(\w+)\/\3\.ts)";$/gm;
const importOf = (name: string, local: string, path: string) =>
  `import { ${name} as ${local} } from ${JSON.stringify(path)};`;

/**
 * Imports from a module's public face as imports from the files behind it. Code is split by files, so that a face would
 * bring all that its module does along with each of its names.
 */
const throughFaces: Plugin = {
  name: "through-faces",
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: (await readFile(path, "utf8")).replaceAll(
        IMPORT,
        (_, list: string, from: string) => {
          const face = join(dirname(path), from);
          const found = exportsOf(face);
          const imports = namesOf(list).map(
            ({ name, alias }) => found.get(name)?.(alias) ?? importOf(name, alias, face),
          );
          // Lines keep their numbers.
          return imports.join(" ") + list.replaceAll(/[^\n]/g, "");
        },
      ),
    }));
  },
};

/**
 * Bundles the app into `dist/main.js`, the file that package.json's `main` names, and the parts that it loads when they
 * are first needed, and renders the documents that describe the API. `@azure/functions-core` stays outside: the Functions host provides it at run time. The banner gives
 * the bundled CommonJS packages a `require`. A file is replaced at once, so that a host that starts meanwhile never
 * reads half of one. Parts of earlier builds are removed once they are `staleMs` old. Answers what the bundle is made of.
 */
export async function buildApp(staleMs = STALE_MS): Promise<Metafile> {
  const own = hashOwnFiles(process.cwd());
  const facts = readFacts();
  const bundled = build({
    write: false,
    metafile: true,
    entryPoints: ENTRIES,
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    chunkNames: `${PARTS}/[name]-[hash]`,
    plugins: [smallSchemas, workedOut(facts), throughFaces],
    platform: "node",
    target: "node22",
    format: "esm",
    // Not the names: the log's stacks are read by people, and wrappers that restore names slow the start down.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: "linked",
    legalComments: "none",
    external: ["@azure/functions-core", ...INSTALLED],
    banner: {
      js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  const [{ outputFiles, metafile }, { reference }] = await Promise.all([bundled, facts]);
  // Until all of it is written, there is no build to start.
  await rm(BUILD_STAMP, { force: true });
  // The entries come last: what they load is there before they are.
  const ordered = outputFiles.toSorted(
    (left, right) => Number(isPart(right.path)) - Number(isPart(left.path)),
  );
  const texts = { path: REFERENCE, contents: JSON.stringify(reference) };
  for (const { path, contents } of [texts, ...ordered]) {
    const draft = `${path}.${process.pid}`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, contents);
    await rename(draft, path);
  }
  const outputs = [texts.path, ...outputFiles.map(({ path }) => relative(process.cwd(), path))];
  stampBuild(process.cwd(), own, { inputs: Object.keys(metafile.inputs), outputs });
  const present = [BUILD_STAMP, ...outputs];
  await removeStale(new Set(present.map((path) => resolve(path))), staleMs);
  return metafile;
}

const isPart = (path: string) => dirname(path).endsWith(PARTS);

async function removeStale(present: ReadonlySet<string>, staleMs: number): Promise<void> {
  for (const name of await readdir(FOLDER, { recursive: true })) {
    const path = resolve(FOLDER, name);
    if (present.has(path)) continue;
    // Another build may be removing the same file.
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true && Date.now() - found.mtimeMs >= staleMs)
      await rm(path, { force: true });
  }
}

if (import.meta.main) await buildApp(process.argv.includes(PACKAGE_FLAG) ? 0 : STALE_MS);
