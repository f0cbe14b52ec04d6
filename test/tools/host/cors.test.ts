import { describe, expect, test } from "vitest";
import { runHostProcess, startHostProcess } from "./host-process.ts";

const DASHBOARD = "https://dashboard.example.com";

/** The headers of an answer that are about pages of other origins. */
const permissionsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => /^access-control-|^vary$/.test(name)));

const preflight = (origin: string) => ({
  method: "OPTIONS",
  headers: {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type",
  },
});

describe("CORS of the local host, as Core Tools have it", () => {
  test("lets pages of the named origins read answers, and answers preflights itself", async () => {
    const { url } = await startHostProcess({
      localSettings: {
        Host: { CORS: `${DASHBOARD},http://localhost:5173`, CORSCredentials: true },
      },
    });
    const ask = async (path: string, options: RequestInit = {}) => {
      const response = await fetch(`${url}/${path}`, options);
      await response.body?.cancel();
      return [response.status, permissionsOf(response)];
    };
    const allowed = {
      "access-control-allow-credentials": "true",
      "access-control-allow-origin": DASHBOARD,
      vary: "Origin",
    };
    // No function takes this method, and the path of one that nobody has is asked for as well.
    for (const path of ["echo", "unknown"])
      expect(await ask(path, preflight(DASHBOARD))).toEqual([
        204,
        {
          ...allowed,
          "access-control-allow-headers": "authorization, content-type",
          "access-control-allow-methods": "POST",
        },
      ]);
    expect(await ask("echo", { headers: { origin: DASHBOARD } })).toEqual([200, allowed]);
    expect(await ask("unknown", { headers: { origin: DASHBOARD } })).toEqual([404, allowed]);
    expect(await ask("echo", preflight("https://other.example.com"))).toEqual([204, {}]);
    expect(await ask("echo", { headers: { origin: "https://other.example.com" } })).toEqual([
      200,
      {},
    ]);
    expect(await ask("echo")).toEqual([200, {}]);
    // Without the header by which a browser asks, OPTIONS is a method like any other.
    expect((await ask("echo", { method: "OPTIONS", headers: { origin: DASHBOARD } }))[0]).toBe(404);
  });

  test("CORS of the local host is off without the setting", async () => {
    const { url } = await startHostProcess({ localSettings: { Values: {} } });
    const asked = await fetch(`${url}/echo`, preflight(DASHBOARD));
    expect([asked.status, permissionsOf(asked)]).toEqual([404, {}]);
    const read = await fetch(`${url}/echo`, { headers: { origin: DASHBOARD } });
    expect([read.status, permissionsOf(read)]).toEqual([200, {}]);
  });

  test("refuses any origin together with credentials, which browsers don't take", async () => {
    const { code, output } = await runHostProcess({
      localSettings: { Host: { CORS: "*", CORSCredentials: true } },
    });
    expect(code).not.toBe(0);
    expect(output).toContain("name the origins");
  });
});
