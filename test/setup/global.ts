import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import type { Azurite } from "../../dev/azurite.ts";
import { buildApp } from "../../tools/build.ts";
import { startTestAzurite } from "./azurite.ts";
import { buildClient } from "./client-build.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The connection string of the run's storage emulator. */
    azurite: string;
    /** Why there is no bundle; empty when there is one. */
    bundleError: string;
    /** Why there is no build of the TypeScript client; empty when there is one. */
    clientError: string;
  }
}

let azurite: Azurite | undefined;

export async function setup(project: TestProject): Promise<void> {
  const [started, bundleError, clientError] = await Promise.all([
    startTestAzurite(),
    bundle(),
    builtClient(),
  ]);
  azurite = started;
  project.provide("azurite", azurite.connectionString);
  project.provide("bundleError", bundleError);
  project.provide("clientError", clientError);
}

export async function teardown(): Promise<void> {
  await azurite?.stop();
}

/**
 * An app that can't be built fails the tests that need its bundle, and one of its own, but not those of a single file.
 * The bundle of an earlier build goes, so that no test runs code that is not there any more.
 */
async function bundle(): Promise<string> {
  if (!existsSync("src/main.ts")) return "there is no src/main.ts";
  try {
    await buildApp();
    return "";
  } catch (error) {
    await rm("dist/main.js", { force: true });
    return (error as Error).message;
  }
}

/** A client that can't be built fails the tests that run it. */
async function builtClient(): Promise<string> {
  try {
    await buildClient();
    return "";
  } catch (error) {
    await rm("clients/typescript/dist", { recursive: true, force: true });
    return (error as Error).message;
  }
}
