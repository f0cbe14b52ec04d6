import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createOperators, type Operators } from "../../src/shared/callers/tokens.ts";
import { parseConfig } from "../../src/shared/config/config.ts";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { createLog } from "../../src/shared/runtime/log.ts";
import { createOutbound, type Outbound } from "../../src/shared/runtime/outbound.ts";
import { createOperatorIssuer, type OperatorIssuer } from "../setup/operator-issuer.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const silent = createLog({ level: "error", sink: () => undefined });

const nowhere: Outbound = {
  request: () => Promise.reject(new Error("nothing but the key set is asked for")),
  open: () => Promise.reject(new Error("nothing is streamed")),
  browserUrl: (url) => url,
  close: () => Promise.resolve(),
};

/** Time is the process's: the keys' age is measured on its clock. */
function standTime() {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-04T10:00:00Z") });
  return { now: () => new Date(), advance: (ms: number) => vi.setSystemTime(Date.now() + ms) };
}
afterEach(() => vi.useRealTimers());

function operatorsOf(issuer: OperatorIssuer, now: () => Date): Operators {
  const { url, audience, jwksUrl } = issuer;
  const config = { issuers: [url], audiences: [audience], jwksUrl, tenantId: undefined };
  return createOperators(config, { outbound: issuer.inFrontOf(nowhere), log: silent, now });
}

async function outcome(operators: Operators, token: string): Promise<string> {
  try {
    return (await operators.verify(token)).subject;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

describe("the operators' key set", () => {
  test.each(["ES256", "RS256"] as const)("%s tokens are taken", async (alg) => {
    const { now } = standTime();
    const issuer = await createOperatorIssuer(alg);
    const operators = operatorsOf(issuer, now);
    const token = await issuer.token({ roles: ["Admin"], subject: "ada" }, now());
    expect(await operators.verify(token)).toEqual({
      kind: "operator",
      subject: "ada",
      roles: ["Admin"],
    });
  });

  test("the operators' key set is fetched once for many tokens", async () => {
    const { now } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    const token = await issuer.token({}, now());
    await Promise.all(Array.from({ length: 20 }, () => operators.verify(token)));
    expect(issuer.fetches()).toBe(1);
  });

  test("an unknown key is looked up, but once in five minutes", async () => {
    const { now, advance } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    await operators.verify(await issuer.token({}, now()));
    const stranger = await createOperatorIssuer();
    await stranger.rotate();
    const forged = await stranger.token({}, now());
    advance(6 * MINUTE);
    for (let round = 0; round < 10; round += 1)
      expect(await outcome(operators, forged)).toBe("invalid_credentials");
    expect(issuer.fetches()).toBe(2);
  });

  test("a rotated key is taken, the withdrawn one ends", async () => {
    const { now, advance } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    const old = await issuer.token({ subject: "old", expiresIn: 86_400 }, now());
    expect(await outcome(operators, old)).toBe("old");
    await issuer.rotate();
    advance(6 * MINUTE);
    expect(await outcome(operators, await issuer.token({ subject: "new" }, now()))).toBe("new");
    expect(await outcome(operators, old)).toBe("invalid_credentials");
  });

  test("operators' last keys stay in use for a day while the key set can't be fetched", async () => {
    const { now, advance } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    await operators.verify(await issuer.token({}, now()));
    issuer.setReachable(false);
    for (let hour = 0; hour < 23; hour += 1) {
      advance(HOUR);
      expect(await outcome(operators, await issuer.token({}, now()))).toBe("operator-1");
    }
    advance(2 * HOUR);
    expect(await outcome(operators, await issuer.token({}, now()))).toBe("service_unavailable");
    issuer.setReachable(true);
    expect(await outcome(operators, await issuer.token({}, now()))).toBe("operator-1");
  });

  test("the operators' key set is renewed each hour in the background", async () => {
    const { now, advance } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    const old = await issuer.token({ expiresIn: 86_400 }, now());
    await operators.verify(old);
    await issuer.rotate();
    advance(61 * MINUTE);
    await operators.verify(old);
    await vi.waitFor(async () => expect(await outcome(operators, old)).toBe("invalid_credentials"));
    expect(issuer.fetches()).toBe(2);
  });

  test("no operator is admitted while the key set was never fetched", async () => {
    const { now } = standTime();
    const issuer = await createOperatorIssuer();
    issuer.setReachable(false);
    const operators = operatorsOf(issuer, now);
    expect(await outcome(operators, await issuer.token({}, now()))).toBe("service_unavailable");
  });
});

describe("over a real connection", () => {
  async function keyServer(issuer: OperatorIssuer) {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(issuer.publicKeys()));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
  }

  async function verifyThrough(settings: (origin: string) => Record<string, string>) {
    const issuer = await createOperatorIssuer();
    const server = await keyServer(issuer);
    const config = parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      OPERATOR_ISSUER: issuer.url,
      OPERATOR_AUDIENCE: issuer.audience,
      ...settings(server.origin),
    });
    const outbound = createOutbound(config);
    const operators = createOperators(config.identity.operators, {
      outbound,
      log: silent,
      now: () => new Date(),
    });
    try {
      return await outcome(operators, await issuer.token({}, new Date()));
    } finally {
      await outbound.close();
      server.close();
    }
  }

  const loopback = { OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32" };

  test("a development issuer on loopback works where the settings allow it", async () => {
    const settings = (origin: string) => ({ ...loopback, OPERATOR_JWKS_URL: `${origin}/keys` });
    expect(await verifyThrough(settings)).toBe("operator-1");
  });

  test("a mapped host's stand-in works where the settings allow it", async () => {
    const settings = (origin: string) => ({
      ...loopback,
      OPERATOR_JWKS_URL: "https://issuer.example.test/keys",
      OUTBOUND_HOST_MAP: JSON.stringify({ "issuer.example.test": origin }),
    });
    expect(await verifyThrough(settings)).toBe("operator-1");
  });

  test("loopback is not dialled for the key set where the settings don't allow it", async () => {
    const settings = (origin: string) => ({ OPERATOR_JWKS_URL: `${origin}/keys` });
    expect(await verifyThrough(settings)).toBe("service_unavailable");
  });
});
