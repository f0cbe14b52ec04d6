import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { legsOf } from "./legs.ts";
import { type Script, NOW, answer, scriptedTools } from "./scripted-tools.ts";

export const REST = "https://api.linkedin.com/rest";
export const TOKEN = "POST https://www.linkedin.com/oauth/v2/accessToken";
export const POST = `POST ${REST}/posts`;

export const FILE = "https://files.example/a.jpg";
export const SECOND = "https://files.example/b.png";
export const CLIP = "https://files.example/c.mp4";
export const PAPER = "https://files.example/d.pdf";

export const DAY_MS = 24 * 3_600_000;
export const later = (ms: number) => new Date(NOW.getTime() + ms);
export const ago = (seconds: number) => later(-seconds * 1000);

export const app: NetworkApp = {
  id: "member-app",
  secret: "member-secret",
  version: "202609",
  organizations: { id: "org-app", secret: "org-secret" },
};
export const memberApp: NetworkApp = { id: app.id, secret: app.secret, version: app.version };

export const member = {
  author: "urn:li:person:AbC",
  kind: "member",
  accessToken: "token",
  accessExpiresAt: later(50 * DAY_MS).toISOString(),
};
export const organization = { ...member, author: "urn:li:organization:7", kind: "organization" };
export const renewable = {
  ...member,
  refreshToken: "refresh",
  refreshExpiresAt: later(300 * DAY_MS).toISOString(),
};
export const begun: NetworkData = linkedin.begin();

export const leg = legsOf({
  account: {
    id: member.author,
    username: "Dana",
    displayName: "Dana",
    avatarUrl: null,
    url: "",
    kind: "member",
  },
  credentials: member,
  remote: begun,
});

export const tools = (script: Script = {}) => scriptedTools({ app, ...script });
export const asset = (kind: string, name: string, isReady = true) => ({
  urn: `urn:li:${kind}:${name}`,
  kind,
  isReady,
});
export const uploaded = (...assets: readonly unknown[]): NetworkData => ({ ...begun, assets });
export const denied = answer(403, { serviceErrorCode: 100, code: "ACCESS_DENIED" });
export const revoked = answer(401, { serviceErrorCode: 65601, code: "REVOKED_ACCESS_TOKEN" });
