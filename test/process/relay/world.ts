import { startIssuer } from "../../../dev/issuer.ts";
import type { Issuer } from "../../../dev/issuer.ts";
import { startSandbox } from "../../../sandbox/server.ts";
import type { Sandbox } from "../../../sandbox/server.ts";

const AUDIENCE = "api://publishing-relay";
const ISSUER_HOST = "login.sandbox.test";

/** What the relay finds outside: the sandbox networks and the operators' identity provider. */
export interface World {
  readonly sandbox: Sandbox;
  readonly issuer: Issuer;
  /** Settings with which a relay lives in this world. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** `hosts` names servers that stand in for hosts of the sandbox, or beside them. */
export async function startWorld(hosts: Readonly<Record<string, string>> = {}): Promise<World> {
  const [sandbox, issuer] = await Promise.all([
    startSandbox(),
    startIssuer({ publicOrigin: `https://${ISSUER_HOST}` }),
  ]);
  const hostMap = {
    ...Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url])),
    [ISSUER_HOST]: issuer.url,
    ...hosts,
  };
  return {
    sandbox,
    issuer,
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify(hostMap),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
      OPERATOR_ISSUER: issuer.issuer,
      OPERATOR_AUDIENCE: AUDIENCE,
      OPERATOR_JWKS_URL: issuer.jwksUrl,
    },
    async stop() {
      await Promise.all([sandbox.stop(), issuer.stop()]);
    },
  };
}
