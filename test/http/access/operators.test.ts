import { createServer } from "node:http";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createOperators, type Operators } from "../../../src/shared/callers/tokens.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { createLog } from "../../../src/shared/runtime/log.ts";
import { createOutbound, type Outbound } from "../../../src/shared/runtime/outbound.ts";
import { PATIENCE_MS } from "../../setup/bounds.ts";
import { createOperatorIssuer, type OperatorIssuer } from "../../setup/operator-issuer.ts";

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
    await vi.waitFor(
      async () => expect(await outcome(operators, old)).toBe("invalid_credentials"),
      PATIENCE_MS,
    );
    expect(issuer.fetches()).toBe(2);
  });

  test("twenty tokens wait while the issuer is slow, the others are refused immediately, and operators with a known key are let in", async () => {
    const { now, advance } = standTime();
    const issuer = await createOperatorIssuer();
    const operators = operatorsOf(issuer, now);
    const known = await issuer.token({}, now());
    const stranger = await createOperatorIssuer();
    await stranger.rotate();
    const forged = await stranger.token({}, now());
    const ofMany = async () => {
      const held = issuer.holdKeys();
      const outcomes = Array.from({ length: 60 }, () => outcome(operators, forged));
      await held.asked;
      const first = await Promise.race(outcomes);
      const own = await Promise.race([
        outcome(operators, known),
        setTimeout(PATIENCE_MS, "waits", { ref: false }),
      ]);
      held.release();
      const all = await Promise.all(outcomes);
      return { first, own, refused: all.filter((one) => one === "service_unavailable").length };
    };
    const refused = { first: "service_unavailable", refused: 40 };
    expect(await ofMany()).toEqual({ ...refused, own: "service_unavailable" });
    expect(await outcome(operators, known)).toBe("operator-1");
    advance(6 * MINUTE);
    expect(await ofMany()).toEqual({ ...refused, own: "operator-1" });
  });

  test("no operator is admitted while the key set was never fetched", async () => {
    const { now } = standTime();
    const issuer = await createOperatorIssuer();
    issuer.setReachable(false);
    const operators = operatorsOf(issuer, now);
    expect(await outcome(operators, await issuer.token({}, now()))).toBe("service_unavailable");
  });
});

const ENTRA_TENANT = "5a2db0c5-0000-4000-8000-5a2db0c50000";
const ENTRA_V1 = `https://sts.windows.net/${ENTRA_TENANT}/`;
const ENTRA_V2 = `https://login.microsoftonline.com/${ENTRA_TENANT}/v2.0`;

interface Sample {
  /** Whether it is an access token that lets an operator in. */
  readonly isTaken: boolean;
  readonly issuer: string;
  readonly type?: string | null;
  readonly more: Readonly<Record<string, unknown>>;
}

/** Claims as these issuers document them, without those that no check reads. */
const SIGNED: Readonly<Record<string, Sample>> = {
  "Entra ID, version 1, of a person": {
    isTaken: true,
    issuer: ENTRA_V1,
    more: { appid: "app", appidacr: "0", scp: "access_as_user", tid: ENTRA_TENANT, ver: "1.0" },
  },
  "Entra ID, version 1, of a program": {
    isTaken: true,
    issuer: ENTRA_V1,
    more: { appid: "app", appidacr: "2", idtyp: "app", tid: ENTRA_TENANT, ver: "1.0" },
  },
  "Entra ID, version 2, of a person": {
    isTaken: true,
    issuer: ENTRA_V2,
    more: { azp: "app", azpacr: "0", scp: "access_as_user", tid: ENTRA_TENANT, ver: "2.0" },
  },
  "Entra ID, version 2, of a program": {
    isTaken: true,
    issuer: ENTRA_V2,
    more: { azp: "app", azpacr: "1", tid: ENTRA_TENANT, ver: "2.0" },
  },
  "Keycloak, of a person": {
    isTaken: true,
    issuer: "https://sso.example.com/realms/relay",
    more: { typ: "Bearer", azp: "console", sid: "s", acr: "1", scope: "openid email profile" },
  },
  "Keycloak, of a program without scopes": {
    isTaken: true,
    issuer: "https://sso.example.com/realms/relay",
    more: { typ: "Bearer", azp: "robot", client_id: "robot", acr: "1", scope: "" },
  },
  "Auth0, of a person": {
    isTaken: true,
    issuer: "https://relay.eu.auth0.com/",
    more: { azp: "console", scope: "openid profile read:relay" },
  },
  "Auth0, of a program": {
    isTaken: true,
    issuer: "https://relay.eu.auth0.com/",
    more: { azp: "robot", gty: "client-credentials" },
  },
  "Auth0, by RFC 9068": {
    isTaken: true,
    issuer: "https://relay.eu.auth0.com/",
    type: "at+jwt",
    more: { client_id: "robot", jti: "j" },
  },
  "Okta, of a person": {
    isTaken: true,
    issuer: "https://relay.okta.com/oauth2/default",
    type: null,
    more: { ver: 1, cid: "console", uid: "u", scp: ["openid", "relay"], auth_time: 1 },
  },
  "Okta, of a program": {
    isTaken: true,
    issuer: "https://relay.okta.com/oauth2/default",
    type: null,
    more: { ver: 1, cid: "robot", scp: ["relay"] },
  },
  "Amazon Cognito, of a person": {
    isTaken: true,
    issuer: "https://cognito-idp.eu-central-1.amazonaws.com/pool",
    type: null,
    more: { token_use: "access", client_id: "console", scope: "openid" },
  },
  "Entra ID's ID token": {
    isTaken: false,
    issuer: ENTRA_V2,
    more: { nonce: "n", tid: ENTRA_TENANT, ver: "2.0", preferred_username: "ada@example.com" },
  },
  "Entra ID's ID token without a nonce": {
    isTaken: false,
    issuer: ENTRA_V2,
    more: { tid: ENTRA_TENANT, ver: "2.0", preferred_username: "ada@example.com" },
  },
  "Entra ID's token of another tenant than its issuer's": {
    isTaken: false,
    issuer: ENTRA_V2,
    more: { azp: "app", azpacr: "1", tid: "00000000-0000-4000-8000-000000000001", ver: "2.0" },
  },
  "a public client's token of Entra ID that allows nothing": {
    isTaken: false,
    issuer: ENTRA_V2,
    more: { azp: "app", azpacr: "0", tid: ENTRA_TENANT, ver: "2.0" },
  },
  "Keycloak's ID token": {
    isTaken: false,
    issuer: "https://sso.example.com/realms/relay",
    more: { typ: "ID", azp: "console", sid: "s", acr: "1", at_hash: "h" },
  },
  "Keycloak's ID token with a scope": {
    isTaken: false,
    issuer: "https://sso.example.com/realms/relay",
    more: { typ: "ID", azp: "console", scope: "openid" },
  },
  "Auth0's ID token": {
    isTaken: false,
    issuer: "https://relay.eu.auth0.com/",
    more: { sid: "s", name: "Ada" },
  },
  "Okta's ID token": {
    isTaken: false,
    issuer: "https://relay.okta.com/oauth2/default",
    type: null,
    more: { ver: 1, amr: ["pwd"], auth_time: 1, idp: "i" },
  },
  "Amazon Cognito's ID token": {
    isTaken: false,
    issuer: "https://cognito-idp.eu-central-1.amazonaws.com/pool",
    type: null,
    more: { token_use: "id", client_id: "console" },
  },
  "a logout token": {
    isTaken: false,
    issuer: "https://sso.example.com/realms/relay",
    type: "logout+jwt",
    more: { events: { "http://schemas.openid.net/event/backchannel-logout": {} }, client_id: "x" },
  },
  "a logout token typed as any": {
    isTaken: false,
    issuer: "https://sso.example.com/realms/relay",
    more: { events: { "http://schemas.openid.net/event/backchannel-logout": {} }, client_id: "x" },
  },
};

describe("what issuers sign", () => {
  async function outcomeOf({ issuer: url, type, more }: Sample): Promise<string> {
    const issuer = await createOperatorIssuer("RS256");
    const { audience, jwksUrl } = issuer;
    const operators = createOperators(
      { issuers: [url], audiences: [audience], jwksUrl, tenantId: undefined },
      { outbound: issuer.inFrontOf(nowhere), log: silent, now: () => new Date() },
    );
    const token = await issuer.token(
      {
        roles: ["Admin"],
        issuer: url,
        ...(type === undefined ? {} : { type }),
        more: { scp: undefined, ...more },
      },
      new Date(),
    );
    return await outcome(operators, token);
  }

  test.each(Object.entries(SIGNED))("is taken as an access token alone: %s", async (_, sample) => {
    const wanted = sample.isTaken ? "operator-1" : "invalid_credentials";
    expect(await outcomeOf(sample)).toBe(wanted);
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
