import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { build } from "esbuild";

/** The app, and the thread that it hashes passwords in, which looks for its file beside the app's. */
const ENTRIES = {
  main: "src/main.ts",
  "password-worker": "src/shared/accounts/password-worker.ts",
};

/**
 * Bundles the app into `dist/main.js`, the file that package.json's `main` names. `@azure/functions-core` stays
 * outside: the Functions host provides it at run time. The banner gives the bundled CommonJS packages a `require`.
 * A file is replaced at once, so that a host that starts meanwhile never reads half of one.
 */
export async function buildApp(): Promise<void> {
  const { outputFiles } = await build({
    write: false,
    entryPoints: ENTRIES,
    outdir: "dist",
    bundle: true,
    platform: "node",
    target: "node22",
    format: "esm",
    minify: true,
    keepNames: true,
    sourcemap: "linked",
    legalComments: "none",
    external: ["@azure/functions-core"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  for (const { path, contents } of outputFiles) {
    const draft = `${path}.${process.pid}`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, contents);
    await rename(draft, path);
  }
}

if (import.meta.main) await buildApp();
