import { readFile, writeFile } from "node:fs/promises";
import { brotliCompressSync, constants } from "node:zlib";
import { buildApp, INSTALLED, REFERENCE } from "./build.ts";

/*
 * Keeps the bundle of the present sources in `test/process/releases`, for the test that runs it next to later builds:
 * `npm run keep-release`, with each deliberate change of rows until 1.0.0, and on each commit that is released.
 */

/** Returns the app's own files, and the versions of the packages that it takes from `node_modules`. */
async function release() {
  const { outputs } = await buildApp();
  const paths = [...Object.keys(outputs).filter((path) => path.endsWith(".js")), REFERENCE];
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8")));
  const files = Object.fromEntries(paths.map((path, index) => [path, texts[index]]));
  const { dependencies } = JSON.parse(await readFile("package.json", "utf8")) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const packages = Object.fromEntries(INSTALLED.map((name) => [name, dependencies[name]]));
  return { packages, files, hostJson: await readFile("host.json", "utf8") };
}

const text = Buffer.from(JSON.stringify(await release()));
const params = { [constants.BROTLI_PARAM_LGWIN]: 24 };
await writeFile("test/process/releases/kept.json.br", brotliCompressSync(text, { params }));
