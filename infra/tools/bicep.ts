import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The compiler that the templates are held against: another version may know other types and rules. */
export const BICEP_VERSION = "0.49.2";

const RESTORE_MS_MAX = 300_000;
const RUN_MS_MAX = 300_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Names of systems as NuGet has them. */
const SYSTEMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "linux",
  darwin: "osx",
  win32: "win",
};

const packageName = () =>
  `Azure.Bicep.CommandLine.${SYSTEMS[process.platform] ?? process.platform}-${process.arch}`;

/** Where NuGet keeps packages, for all projects of a machine. */
const packagesFolder = () => process.env["NUGET_PACKAGES"] ?? join(homedir(), ".nuget", "packages");

/** Returns the compiler's path when an earlier run has left it on this machine. */
export function installedBicep(): string | undefined {
  const program = process.platform === "win32" ? "bicep.exe" : "bicep";
  const folder = join(packagesFolder(), packageName().toLowerCase(), BICEP_VERSION);
  const path = join(folder, "tools", program);
  return existsSync(path) ? path : undefined;
}

/**
 * Returns the compiler's path, downloaded as a NuGet package where it is not there yet. That takes the .NET SDK, which
 * nothing else here does.
 * @throws Error that says why there is none
 */
export async function findBicep(): Promise<string> {
  const path = installedBicep() ?? (await downloadBicep());
  if (process.platform !== "win32") await chmod(path, 0o755);
  return path;
}

async function downloadBicep(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "bicep-"));
  try {
    await writeFile(join(folder, "bicep.proj"), PROJECT);
    await run("dotnet", ["restore", "bicep.proj", "--packages", packagesFolder()], {
      cwd: folder,
      timeout: RESTORE_MS_MAX,
      env: { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: "1", DOTNET_NOLOGO: "1" },
    });
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: string };
    if (code === "ENOENT") throw new Error("there is no .NET SDK here", { cause: error });
    const lines = stdout?.trim().split("\n") ?? [];
    const reason = lines.find((line) => line.includes("error")) ?? lines.at(-1) ?? String(error);
    throw new Error(`the package could not be had: ${reason}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const path = installedBicep();
  if (path === undefined) throw new Error(`${packageName()} holds no compiler`);
  return path;
}

/** A project that has this package and nothing else, no framework either. */
const PROJECT = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
  </PropertyGroup>
  <ItemGroup><PackageDownload Include="${packageName()}" Version="[${BICEP_VERSION}]" /></ItemGroup>
</Project>
`;

/** How a run of the compiler ended: what it said, warnings among it, and whether it is content. */
export interface BicepRun {
  readonly ok: boolean;
  readonly said: string;
}

/** Runs the compiler in a folder, with environment variables of the caller's beside the process's own. */
export async function runBicep(
  bicep: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<BicepRun> {
  try {
    const { stdout, stderr } = await run(bicep, [...args], {
      cwd,
      timeout: RUN_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
      // A machine without libicu has no data of languages; the compiler needs none.
      env: { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: "1", NO_COLOR: "1", ...env },
    });
    return { ok: true, said: `${stdout}${stderr}`.trim() };
  } catch (error) {
    const {
      stdout = "",
      stderr = "",
      message,
    } = error as Error & {
      stdout?: string;
      stderr?: string;
    };
    return { ok: false, said: `${stdout}${stderr}`.trim() || message };
  }
}
