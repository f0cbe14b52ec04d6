import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";

/** The app, and the thread that it hashes passwords in, which looks for its file beside the app's. */
const ENTRIES = {
  main: "src/main.ts",
  "password-worker": "src/shared/accounts/password-worker.ts",
};

const FOLDER = "dist";
/** Where what is loaded when it is first needed lies, under names made of its content. */
const PARTS = "parts";

/** Loaded when first needed, from the installed packages: native code can't be bundled, and the rest is large. */
const INSTALLED = ["sharp", "mediabunny"];

/** Longer than a host that was started on an earlier build is left running, so that it still finds its parts. */
const STALE_MS = 24 * 3600 * 1000;

/**
 * `node:http` without `import`: that reads every export, the WebSocket client among them, and so loads a whole HTTP
 * client that nobody asked for (a tenth of the start).
 */
const plainHttp: Plugin = {
  name: "plain-http",
  setup(bundler) {
    const namespace = "plain-http";
    bundler.onResolve({ filter: /^(?:node:)?http$/ }, () => ({ path: "node:http", namespace }));
    bundler.onLoad({ filter: /.*/, namespace }, () => ({
      contents: 'module.exports = process.getBuiltinModule("node:http");',
    }));
  },
};

/**
 * Bundles the app into `dist/main.js`, the file that package.json's `main` names, and the parts that it loads when they
 * are first needed. `@azure/functions-core` stays outside: the Functions host provides it at run time. The banner gives
 * the bundled CommonJS packages a `require`. A file is replaced at once, so that a host that starts meanwhile never
 * reads half of one. Answers what the bundle is made of.
 */
export async function buildApp(): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    write: false,
    metafile: true,
    entryPoints: ENTRIES,
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    chunkNames: `${PARTS}/[name]-[hash]`,
    plugins: [plainHttp],
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
  // The entries come last: what they load is there before they are.
  const ordered = outputFiles.toSorted(
    (left, right) => Number(isPart(right.path)) - Number(isPart(left.path)),
  );
  for (const { path, contents } of ordered) {
    const draft = `${path}.${process.pid}`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, contents);
    await rename(draft, path);
  }
  await removeStale(new Set(outputFiles.map(({ path }) => path)));
  return metafile;
}

const isPart = (path: string) => dirname(path).endsWith(PARTS);

async function removeStale(present: ReadonlySet<string>): Promise<void> {
  const folder = join(process.cwd(), FOLDER, PARTS);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    if (present.has(path)) continue;
    // Another build may be removing the same file.
    const changed = await stat(path).catch(() => undefined);
    if (changed !== undefined && Date.now() - changed.mtimeMs > STALE_MS)
      await rm(path, { force: true });
  }
}

if (import.meta.main) await buildApp();
