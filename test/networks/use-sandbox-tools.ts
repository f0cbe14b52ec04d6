import { beforeEach } from "vitest";
import type { Sandbox } from "../../sandbox/server.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import { useSandbox } from "../sandbox/client.ts";
import { sandboxTools, type SandboxTools } from "./sandbox-leg.ts";

/** One sandbox for a test file; before every test it is made again, and `keep` is handed it with tools that dial it. */
export function useSandboxTools(
  keep: (fresh: { readonly sandbox: Sandbox; readonly tools: SandboxTools }) => void,
  app?: NetworkApp,
): void {
  const at = useSandbox();
  beforeEach(() => keep({ sandbox: at.sandbox, tools: sandboxTools(at.sandbox, app) }));
}
