import { build } from "esbuild";

/**
 * Bundles the app into `dist/main.js`, the file that package.json's `main` names. `@azure/functions-core` stays
 * outside: the Functions host provides it at run time. The banner gives the bundled CommonJS packages a `require`.
 */
export async function buildApp(): Promise<void> {
  await build({
    entryPoints: ["src/main.ts"],
    outfile: "dist/main.js",
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
}

if (import.meta.main) await buildApp();
