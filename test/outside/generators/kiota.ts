import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { blocksOf } from "../../docs/blocks.ts";

export const hasDotnet = spawnSync("dotnet", ["--version"], { stdio: "ignore" }).status === 0;
const works = (...args: readonly string[]) =>
  spawnSync("python3", args, { stdio: "ignore" }).status === 0;
export const hasPython = works("--version");
/** Whether Kiota's packages for Python are here, which come from PyPI alone. */
export const hasPythonPackages = works("-c", "import kiota_http, kiota_serialization_json");
export const LANGUAGES = ["CSharp", "Java", "Go", "PHP", "Python"] as const;

const RUN_MS_MAX = 300_000;
const PAGE = "docs/other-languages.md";
const PACKAGES_VERSION = "2.1.6";
const PACKAGES = [
  "Abstractions",
  "Http.HttpClientLibrary",
  "Serialization.Form",
  "Serialization.Json",
  "Serialization.Multipart",
  "Serialization.Text",
];

const run = promisify(execFile);

/** Kiota with the OpenAPI document, in a folder of their own. */
export interface Kiota {
  /** Makes a client, with the options of the page. Returns its folder. */
  generate(language: (typeof LANGUAGES)[number]): Promise<string>;
  /** Compiles the page's program in C# with the client, and runs it. Returns what it printed. */
  readonly runProgram: (environment: Readonly<Record<string, string>>) => Promise<string>;
  /**
   * Compiles the page's program in Python and the client. Returns what the program imports from the client and the client
   * doesn't have.
   */
  compilePython(): Promise<readonly string[]>;
  /** Runs the page's program in Python, which has been compiled. Returns what it printed. */
  readonly runPython: (environment: Readonly<Record<string, string>>) => Promise<string>;
  remove(): Promise<void>;
}

/** Installs Kiota in the version that the page names. */
export async function installKiota(document: unknown): Promise<Kiota> {
  const [shell] = blocksOf(PAGE).filter(({ language }) => language === "sh");
  const version = /--version (\S+)/.exec(shell?.code ?? "")?.[1] ?? "";
  const folder = await mkdtemp(join(tmpdir(), "kiota-"));
  const env = {
    ...process.env,
    DOTNET_CLI_TELEMETRY_OPTOUT: "1",
    DOTNET_NOLOGO: "1",
    KIOTA_OFFLINE_ENABLED: "true",
  };
  const options = { cwd: folder, env, timeout: RUN_MS_MAX, maxBuffer: 16_000_000 };
  const tool = ["Microsoft.OpenApi.Kiota", "--version", version, "--tool-path", "tool"];
  await run("dotnet", ["tool", "install", ...tool], options);
  await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
  const generate: Kiota["generate"] = async (language) => {
    const named = ["-d", "openapi.json", "-c", "RelayClient", "-n", "Relay"];
    const to = join(folder, language, "Relay");
    await run("tool/kiota", ["generate", "-l", language, ...named, "-o", to], options);
    return to;
  };
  return {
    generate,
    async runProgram(environment) {
      await generate("CSharp");
      const project = join(folder, "CSharp");
      const [program] = blocksOf(PAGE).filter(({ language }) => language === "csharp");
      const references = PACKAGES.map(
        (name) =>
          `<PackageReference Include="Microsoft.Kiota.${name}" Version="${PACKAGES_VERSION}" />`,
      );
      await mkdir(project, { recursive: true });
      await writeFile(join(project, "Program.cs"), program?.code ?? "");
      await writeFile(
        join(project, "app.csproj"),
        `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>
<TargetFramework>net10.0</TargetFramework><RollForward>LatestMajor</RollForward>
<Nullable>enable</Nullable><ImplicitUsings>enable</ImplicitUsings></PropertyGroup>
<ItemGroup>${references.join("")}</ItemGroup></Project>`,
      );
      await run("dotnet", ["build", project, "-v", "q"], options);
      const app = join(project, "bin/Debug/net10.0/app.dll");
      const { stdout } = await run("dotnet", [app], {
        ...options,
        env: { ...env, ...environment },
      });
      return stdout;
    },
    async compilePython() {
      const project = join(folder, "Python");
      await generate("Python");
      const [program] = blocksOf(PAGE).filter(({ language }) => language === "python");
      const code = program?.code ?? "";
      await writeFile(join(project, "publish.py"), code);
      await run("python3", ["-m", "compileall", "-q", project], options);
      const missing: string[] = [];
      for (const [line, module = "", name = ""] of code.matchAll(
        /^from (Relay\.[\w.]+) import (\w+)$/gm,
      )) {
        const source = await readFile(join(project, `${module.replaceAll(".", "/")}.py`), "utf8");
        if (!source.includes(`\nclass ${name}(`)) missing.push(line);
      }
      return missing;
    },
    async runPython(environment) {
      const program = join(folder, "Python/publish.py");
      const { stdout } = await run("python3", [program], {
        ...options,
        env: { ...env, ...environment },
      });
      return stdout;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
