import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import { chapters } from "../../src/functions/routes.ts";
import { openApi } from "../../tools/reference/openapi.ts";
import type { Parameter } from "../../tools/reference/openapi-types.ts";
import {
  GENERATORS,
  generateAndCompile,
  postmanRequests,
} from "../outside/generators/generators.ts";
import {
  hasDotnet,
  hasPython,
  hasPythonPackages,
  installKiota,
  LANGUAGES,
  type Kiota,
} from "../outside/generators/kiota.ts";
import { INSTALL_MS_MAX } from "../setup/install-packages.ts";
import { aPublisher } from "../setup/publisher.ts";
import { serveRelay } from "../setup/relay-server.ts";
import { startRelay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";

const timeout = INSTALL_MS_MAX + 240_000;
const document = openApi(chapters, "https://relay.example.net/api", "Publishing Relay");

test.each(GENERATORS)("the client that $name makes compiles", { timeout }, async (generator) => {
  const startedAt = performance.now();
  expect(await generateAndCompile(generator, document)).toBe("");
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${generator.name} ${seconds} s\n`);
});

test("a list that is made of a reference and a list is noticed", { timeout }, async () => {
  const { Finding, LegErrorCode, ...schemas } = document.components.schemas;
  const code = {
    anyOf: [
      { $ref: "#/components/schemas/LegErrorCode" },
      { type: "string", enum: ["alt_text_shortened"] },
    ],
  };
  const unusual = { ...Finding, properties: { ...Finding?.properties, code } };
  const components = {
    ...document.components,
    schemas: { ...schemas, Finding: unusual, LegErrorCode },
  };
  const orval = GENERATORS.find(({ name }) => name === "orval");
  if (orval === undefined) throw new Error("orval is not among the generators");
  expect(await generateAndCompile(orval, { ...document, components })).toContain("LegErrorCode");
});

describe("Postman's import", () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  test("fills in what has to be sent", { timeout }, async () => {
    const requests = await postmanRequests(document);
    expect(requests).toHaveLength(operations.length);
    for (const { path, method, operation } of operations) {
      const name = `${method} ${path}`;
      const steps = path.slice(1).replace(/\{(\w+)\}/g, ":$1");
      const request = requests.find(
        (one) => one.method === method.toUpperCase() && one.url.path.join("/") === steps,
      );
      if (request === undefined) throw new Error(`the import has no ${name}`);
      const { query = [], variable = [] } = request.url;
      const given = [...request.header, ...query, ...variable];
      const values = new Map(given.map(({ key, value }) => [key, value]));
      for (const required of (operation.parameters ?? []).map(resolved).filter(isToBeFilledIn))
        expect([name, values.get(required.name)]).toEqual([name, required.example]);
      const sent = operation.requestBody?.content["application/json"]?.example;
      if (sent !== undefined) expect(JSON.parse(request.body?.raw ?? "null")).toEqual(sent);
    }
  });

  const isToBeFilledIn = ({ required, example }: Parameter) => required && example !== undefined;

  function resolved(parameter: Parameter | { readonly $ref: string }): Parameter {
    if (!("$ref" in parameter)) return parameter;
    const found = document.components.parameters[parameter.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`there is no ${parameter.$ref}`);
    return found;
  }
});

describe.skipIf(!hasDotnet)("Kiota", () => {
  let kiota: Kiota;
  beforeAll(async () => {
    kiota = await installKiota(document);
  }, timeout);
  afterAll(() => kiota.remove());

  test.each(LANGUAGES)("makes a client in %s", { timeout }, async (language) => {
    const files = await readdir(await kiota.generate(language), { recursive: true });
    expect(files.length).toBeGreaterThan(300);
  });

  /** Runs a program of the page with a key that is right, and with a wrong one. */
  async function publish(run: Kiota["runProgram"], text: string) {
    const sandbox = await startSandbox();
    const relay = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
    const server = await serveRelay(relay);
    try {
      const { key, profileId } = await aPublisher(relay);
      const environment = { RELAY_URL: server.baseUrl, RELAY_KEY: key, RELAY_PROFILE: profileId };
      const printed = await run(environment);
      expect(sandbox.posts().map((post) => post.text)).toEqual([text, text]);
      return [printed, await run({ ...environment, RELAY_KEY: `${key}0` })];
    } finally {
      await server.close();
      await relay.stop();
      await sandbox.stop();
    }
  }

  test("the page's program in C# publishes", { timeout }, async () => {
    const [printed, refused] = await publish(kiota.runProgram, "Hello from C#");
    expect(printed).toMatch(/^pst_\w+ Processing\n$/);
    expect(refused).toMatch(/^Invalid_credentials: \S/);
  });

  test.skipIf(!hasPython)("the page's program in Python compiles", { timeout }, async () => {
    expect(await kiota.compilePython()).toEqual([]);
  });

  test.skipIf(!hasPythonPackages)(
    "the page's program in Python publishes",
    { timeout },
    async () => {
      await kiota.compilePython();
      const [printed, refused] = await publish(kiota.runPython, "Hello from Python");
      expect(printed).toMatch(/^pst_\w+ processing\n$/);
      expect(refused).toMatch(/^invalid_credentials: \S/);
    },
  );
});
