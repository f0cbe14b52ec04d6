import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { createOutbound, type Outbound } from "../../src/shared/runtime/outbound.ts";
import { type NameAnswer, startNameServer, type NameServer } from "../setup/name-server.ts";

const FULL_V6_PRIVATE = "fd00:0:0:0:0:0:0:1";
const ANSWERS: Readonly<Record<string, NameAnswer>> = {
  "here.example.test": { a: ["127.0.0.1"] },
  "alias.example.test": { a: ["127.0.0.1"], alias: "target.example.net" },
  "inside.example.test": { a: ["10.1.2.3"] },
  "half-inside.example.test": { a: ["127.0.0.1"], aaaa: [FULL_V6_PRIVATE] },
  "hidden.example.test": { a: [...Array.from({ length: 20 }, () => "127.0.0.1"), "10.1.2.3"] },
  "alias-inside.example.test": { a: ["10.1.2.3"], alias: "target.example.net" },
  "nowhere.example.test": {},
  "gone.example.test": "nxdomain",
  "broken.example.test": "servfail",
  "refused.example.test": "refused",
  "silent.example.test": "silence",
};

/** How often it was answered decides: a public address first, a private one after that. */
let turns = 0;
function answerOf(name: string, family: 4 | 6): NameAnswer {
  if (name === "deaf.example.test") return family === 4 ? { a: ["127.0.0.1"] } : "silence";
  if (name === "turning.example.test") {
    if (family === 4) turns += 1;
    return { a: [turns <= 1 ? "127.0.0.1" : "10.1.2.3"] };
  }
  return ANSWERS[name.toLowerCase()] ?? "nxdomain";
}

let names: NameServer;
let outbound: Outbound;
let port: number;
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});

const outboundWith = (nameServers: string) =>
  createOutbound(
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
      OUTBOUND_NAME_SERVERS: nameServers,
    }),
  );

beforeAll(async () => {
  names = await startNameServer(answerOf);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
  outbound = outboundWith(names.address);
});
afterAll(async () => {
  await outbound.close();
  await names.stop();
  await new Promise((resolve) => server.close(resolve));
});

/** Calls the server under a name. It ends every connection before it is secure, so every call fails. */
async function failureOf(name: string, by = outbound): Promise<Partial<HttpFailure>> {
  const url = `https://${name}:${port}/`;
  const failure = await by.request({ method: "GET", url, owner: "plt_a" }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof HttpFailure) return failure;
  throw new Error("the call did not fail as it should", { cause: failure });
}

describe("a host that a customer chose", () => {
  test.each(["here.example.test", "here.example.test.", "alias.example.test", "deaf.example.test"])(
    "a host is dialled where its name server says: %s",
    async (name) => {
      const before = connections;
      await failureOf(name);
      expect(connections).toBe(before + 1);
      expect(names.asked.at(-1)).toBe(name.replace(/\.$/, ""));
    },
  );

  test.each([
    "inside.example.test",
    "half-inside.example.test",
    "hidden.example.test",
    "alias-inside.example.test",
  ])("a host with a private address is not dialled: %s", async (name) => {
    const before = connections;
    expect(await failureOf(name)).toMatchObject({
      delivery: "not_sent",
      reason: "blocked_address",
    });
    expect(connections).toBe(before);
  });

  test.each(["gone.example.test", "inside.example.test"])(
    "a name that doesn't exist and one that is private fail in the same way: %s",
    async (name) => {
      const { delivery, reason, message } = await failureOf(name);
      expect({ delivery, reason, message }).toEqual({
        delivery: "not_sent",
        reason: "blocked_address",
        message: "blocked_address (not_sent)",
      });
    },
  );

  test("a host that a customer chose is resolved again for each connection, and not dialled once its name leads inside", async () => {
    const before = connections;
    await failureOf("turning.example.test");
    expect(connections).toBe(before + 1);
    const reason = "blocked_address";
    expect(await failureOf("turning.example.test")).toMatchObject({ reason });
    expect(connections).toBe(before + 1);
  });

  test.each([
    "nowhere.example.test",
    "broken.example.test",
    "refused.example.test",
    "silent.example.test",
  ])("a host whose name can't be resolved can't be reached: %s", async (name) => {
    expect(await failureOf(name)).toMatchObject({
      delivery: "not_sent",
      reason: "connect_failed",
    });
  });

  test("a host that a customer chose is asked for by its whole name alone, whatever search domains the machine has", () => {
    const asked = new Set(names.asked.map((name) => name.toLowerCase()));
    expect([...asked].filter((name) => !name.endsWith(".example.test"))).toEqual([]);
  });

  test("a host that a customer chose can't be reached on a machine without a name server", async () => {
    const spare = await startNameServer(() => "silence");
    await spare.stop();
    const alone = outboundWith(spare.address);
    expect(await failureOf("here.example.test", alone)).toMatchObject({
      delivery: "not_sent",
      reason: "connect_failed",
    });
    await alone.close();
  });
});
