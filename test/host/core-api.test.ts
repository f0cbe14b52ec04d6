import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { provideCoreModule, WorkerApp } from "../../dev/host/core-api.ts";
import type { LogLevel } from "../../dev/host/core-types.ts";

function workerApp(): { app: WorkerApp; lines: [LogLevel, string][] } {
  const lines: [LogLevel, string][] = [];
  return { app: new WorkerApp({ write: (level, line) => lines.push([level, line]) }), lines };
}

test("the core module is there for require while an app is hosted, and not after", () => {
  const load = createRequire(import.meta.url);
  const takeBack = provideCoreModule(workerApp().app);
  const core = load("@azure/functions-core") as Record<string, unknown>;
  expect(Object.keys(core)).toEqual([
    "version",
    "hostVersion",
    "registerFunction",
    "registerHook",
    "setProgrammingModel",
    "getProgrammingModel",
    "log",
    "Disposable",
  ]);
  expect(load("node:path")).toHaveProperty("join");
  takeBack();
  expect(() => load("@azure/functions-core") as unknown).toThrow("Cannot find module");
});

test("a function's metadata is kept as registered, with its bindings as the host reads them", () => {
  const { app } = workerApp();
  const bindings = {
    request: {
      type: "httpTrigger",
      direction: "in",
      route: "a/{b}",
      methods: ["GET"],
      authLevel: "anonymous",
    },
    $return: { type: "http", direction: "out" },
  } as const;
  app.register({ name: "f", bindings }, () => undefined);
  const metadata = app.functions.get("f")?.metadata;
  expect(metadata).toMatchObject({ name: "f", functionId: "f", bindings, scriptFile: "n/a" });
  expect(metadata?.rawBindings.map((text) => JSON.parse(text) as unknown)).toEqual([
    { ...bindings.request, name: "request" },
    { ...bindings.$return, name: "$return" },
  ]);
});

test("a function is registered once, while the app loads, and can be taken back till then", () => {
  const { app } = workerApp();
  const takeBack = app.register({ name: "f", bindings: {} }, () => undefined);
  expect(() => app.register({ name: "f", bindings: {} }, () => undefined)).toThrow(
    "registered twice",
  );
  takeBack();
  expect(app.functions.size).toBe(0);
  app.started = true;
  expect(() => app.register({ name: "g", bindings: {} }, () => undefined)).toThrow(
    "during app startup",
  );
  expect(takeBack).toThrow("during app startup");
});

test("hooks run in order, stop at the first that throws, and can be disposed", async () => {
  const { hooks } = workerApp().app;
  const calls: string[] = [];
  const context = { hookData: {}, appHookData: hooks.appHookData };
  hooks.register("appStart", () => calls.push("first"));
  const takeBack = hooks.register("appStart", () => {
    throw new Error("a hook fails");
  });
  hooks.register("appStart", () => calls.push("last"));
  await expect(hooks.run("appStart", context)).rejects.toThrow("a hook fails");
  expect(calls).toEqual(["first"]);
  takeBack();
  await hooks.run("appStart", context);
  expect(calls).toEqual(["first", "first", "last"]);
  expect(() => hooks.register("appPause", () => undefined)).toThrow('Unrecognized hook "appPause"');
});

test("a log hook changes the app's own lines and none of the system's", () => {
  const { app, lines } = workerApp();
  app.hooks.register("log", (context) => {
    Object.assign(context, { level: "error", message: "changed" });
    expect(() => Object.assign(context, { category: "user" })).toThrow(
      "read only property 'category'",
    );
  });
  app.log("information", "user", "mine");
  app.log("warning", "system", "the library's");
  expect(lines).toEqual([
    ["error", "changed"],
    ["warning", "the library's"],
  ]);
});
