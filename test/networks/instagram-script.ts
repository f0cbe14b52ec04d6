import { files, legsOf } from "./legs.ts";
import type { Script } from "./scripted-tools.ts";
import { NOW, answer, scriptedTools } from "./scripted-tools.ts";

export const GRAPH = "https://graph.instagram.com/v26.0";
const app = { id: "app-1", secret: "secret-1", version: "v26.0" };
export const DAY = 24 * 3600;
export const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();
export const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
export const credentials = {
  userId: "42",
  accessToken: "token",
  authVariant: "instagram_login" as const,
  issuedAt: at(-DAY),
  expiresAt: at(59 * DAY),
};
export const LOOK = (id: string) => `GET ${GRAPH}/${id}`;

export const FILE = "https://files.example/a.jpg";

export const leg = legsOf({
  account: {
    id: "42",
    username: "bakery",
    displayName: "Bakery",
    avatarUrl: null,
    url: "https://www.instagram.com/bakery/",
    kind: "business",
  },
  credentials,
  draft: { text: "Hello", media: files(FILE), options: {} },
});

export const tools = (script: Script = {}) => scriptedTools({ app, ...script });
export const error = (code: number, subcode?: number, status = 400, message = "words") =>
  answer(status, {
    error: {
      message,
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
    },
  });
export const state = (status_code: string, status = "") =>
  answer(200, { id: "1", status_code, status });

export const container = (id: string, overrides: Record<string, unknown> = {}) => ({
  id,
  createdAt: ago(10).toISOString(),
  isReady: false,
  ...overrides,
});
export const ofForm = (
  name: string,
  kinds: readonly string[],
  more: Record<string, unknown> = {},
) => ({
  form: name,
  kinds,
  children: [],
  restarts: 0,
  ...more,
});
export const anImage = ofForm("image", ["image"], { container: container("1") });
