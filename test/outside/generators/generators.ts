import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPackages } from "../../setup/install-packages.ts";

const PACKAGES = new URL("./", import.meta.url);
/** openapi-typescript is there already: it makes the types of our own client. */
const ROOT = new URL("../../../", import.meta.url);
/** A generator that takes longer hangs. */
const RUN_MS_MAX = 120_000;

interface Generator {
  readonly name: string;
  readonly folder: URL;
  /** The script of the package that runs, from the folder of its packages. */
  readonly script: string;
  /** Files that it needs, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Changes the document where the generator can't read what the standards allow. */
  readonly adapt?: (document: unknown) => unknown;
}

/** Takes null from the values of every list. Its type has it too. */
function withoutNullValues(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutNullValues);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => [
      name,
      name === "enum" && Array.isArray(value)
        ? value.filter((one) => one !== null)
        : withoutNullValues(value),
    ]),
  );
}

const orval = {
  relay: {
    input: { target: "./document.json" },
    // One file: what is declared too late does not compile.
    output: { target: "./client/api.ts", client: "fetch", mode: "single" },
  },
};
const rtkQuery = {
  schemaFile: "./document.json",
  apiFile: "./client/base.ts",
  apiImport: "emptyApi",
  outputFile: "./client/api.ts",
  exportName: "api",
  hooks: false,
};
const RTK_BASE = `import { createApi, fetchBaseQuery } from "@reduxjs/toolkit/query";
export const emptyApi = createApi({
  baseQuery: fetchBaseQuery({ baseUrl: "/" }),
  endpoints: () => ({}),
});
`;

/** What npm carries and customers use, each as its documentation begins. */
export const GENERATORS: readonly Generator[] = [
  {
    name: "openapi-typescript",
    folder: ROOT,
    script: "openapi-typescript/bin/cli.js",
    args: ["document.json", "-o", "client/api.ts"],
  },
  {
    name: "orval",
    folder: PACKAGES,
    script: "orval/dist/bin/orval.js",
    files: { "orval.config.cjs": `module.exports = ${JSON.stringify(orval)};` },
    args: ["--config", "orval.config.cjs"],
  },
  {
    name: "@hey-api/openapi-ts",
    folder: PACKAGES,
    script: "@hey-api/openapi-ts/bin/run.js",
    args: ["-i", "document.json", "-o", "client"],
  },
  {
    name: "swagger-typescript-api",
    folder: PACKAGES,
    script: "swagger-typescript-api/dist/cli.mjs",
    args: ["generate", "-p", "document.json", "-o", "client", "-n", "api.ts"],
  },
  {
    name: "openapi-typescript-codegen",
    folder: PACKAGES,
    script: "openapi-typescript-codegen/bin/index.js",
    args: ["--input", "document.json", "--output", "client", "--client", "fetch"],
  },
  {
    name: "oazapfts",
    folder: PACKAGES,
    script: "oazapfts/dist/cli.js",
    args: ["document.json", "client/api.ts"],
  },
  {
    name: "openapi-zod-client",
    folder: PACKAGES,
    script: "openapi-zod-client/bin.js",
    args: ["document.json", "-o", "client/api.ts"],
    // https://github.com/astahmer/openapi-zod-client/issues/236
    adapt: withoutNullValues,
  },
  {
    name: "@rtk-query/codegen-openapi",
    folder: PACKAGES,
    script: "@rtk-query/codegen-openapi/lib/bin/cli.mjs",
    files: { "rtk.config.json": JSON.stringify(rtkQuery), "client/base.ts": RTK_BASE },
    args: ["rtk.config.json"],
  },
];

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  target: "es2022",
  lib: ["es2022", "dom", "dom.iterable"],
  module: "esnext",
  moduleResolution: "bundler",
  skipLibCheck: true,
  types: [],
};

const run = promisify(execFile);
type Ended = { readonly stdout?: string; readonly stderr?: string; readonly message?: string };

/** Runs a script of a package in a folder. Returns what it wrote when it failed, else an empty text. */
async function failureOf(folder: string, script: URL, args: readonly string[]): Promise<string> {
  try {
    await run(process.execPath, [fileURLToPath(script), ...args], {
      cwd: folder,
      timeout: RUN_MS_MAX,
      env: { PATH: process.env["PATH"], HOME: folder, CI: "true", NO_COLOR: "1" },
    });
    return "";
  } catch (error) {
    const { stdout = "", stderr = "", message = "" } = error as Ended;
    return `${stdout}${stderr}`.trim() || message;
  }
}

/**
 * Makes a client of the document and compiles it in strict mode.
 * @returns what went wrong; empty when the client compiles
 */
export async function generateAndCompile(
  { name, folder, script, files = {}, args, adapt = (whole) => whole }: Generator,
  document: unknown,
): Promise<string> {
  await installPackages(PACKAGES);
  const modules = new URL("node_modules/", folder);
  const project = await mkdtemp(join(tmpdir(), `client-of-${name.replace(/\W/g, "-")}-`));
  try {
    await mkdir(join(project, "client"));
    await symlink(fileURLToPath(modules), join(project, "node_modules"));
    const config = { compilerOptions: COMPILER_OPTIONS, include: ["client"] };
    const all = {
      "document.json": JSON.stringify(adapt(document)),
      "tsconfig.json": JSON.stringify(config),
      ...files,
    };
    for (const [file, text] of Object.entries(all)) await writeFile(join(project, file), text);
    const failure = await failureOf(project, new URL(script, modules), args);
    if (failure !== "") return failure;
    const compiler = new URL("node_modules/typescript/bin/tsc", PACKAGES);
    return await failureOf(project, compiler, ["-p", "."]);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

interface Header {
  readonly key: string;
  readonly value: string;
}

/** A folder or a request of a Postman collection. */
interface PostmanItem {
  readonly item?: readonly PostmanItem[];
  readonly request?: {
    readonly method: string;
    readonly url: {
      readonly path: readonly string[];
      readonly query?: readonly Header[];
      readonly variable?: readonly Header[];
    };
    readonly header: readonly Header[];
    readonly body?: { readonly mode?: string; readonly raw?: string };
  };
}
type PostmanRequest = NonNullable<PostmanItem["request"]>;

interface Converter {
  convert(
    input: { readonly type: "string"; readonly data: string },
    options: Readonly<Record<string, string>>,
    done: (
      error: Error | null,
      result: { result: boolean; reason?: string; output: readonly { data: PostmanItem }[] },
    ) => void,
  ): void;
}

const requestsOf = ({ item = [], request }: PostmanItem): readonly PostmanRequest[] => [
  ...(request === undefined ? [] : [request]),
  ...item.flatMap(requestsOf),
];

/** Imports the document as Postman does when it is asked to use examples. */
export async function postmanRequests(document: unknown): Promise<readonly PostmanRequest[]> {
  await installPackages(PACKAGES);
  const entry = new URL("node_modules/openapi-to-postmanv2/dist/index.js", PACKAGES);
  // Safe: the type names as much of the package as is used.
  const { default: converter } = (await import(entry.href)) as { default: Converter };
  const options = {
    requestParametersResolution: "Example",
    exampleParametersResolution: "Example",
  };
  const { promise, resolve, reject } = Promise.withResolvers<readonly PostmanRequest[]>();
  converter.convert({ type: "string", data: JSON.stringify(document) }, options, (error, made) => {
    if (error !== null || !made.result) reject(error ?? new Error(made.reason));
    else resolve(made.output.flatMap(({ data }) => requestsOf(data)));
  });
  return await promise;
}
