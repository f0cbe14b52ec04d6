import * as z from "zod";
import { exchange } from "../../../../src/shared/networks/contract/answers.ts";
import { HttpFailure } from "../../../../src/shared/runtime/http-call.ts";
import { shape } from "../../../../src/shared/runtime/shape.ts";
import type { LinkFlow, LinkOutcome } from "../../../../src/shared/networks/contract/link.ts";
import type { NetworkData } from "../../../../src/shared/networks/contract/draft.ts";
import type { NetworkTools } from "../../../../src/shared/networks/contract/tools.ts";

export const ORIGIN = "https://api.pinboard.test";

const meShape = shape(() => z.object({ id: z.string(), name: z.string() }));
const credentialsShape = shape(() => z.object({ token: z.string() }));

export function tokenOf(credentials: NetworkData): string {
  return credentialsShape().parse(credentials).token;
}

async function signIn(
  form: Readonly<Record<string, string>>,
  tools: NetworkTools,
): Promise<LinkOutcome> {
  const token = form["accessToken"] ?? "";
  const answer = await exchange(tools, {
    method: "GET",
    url: `${ORIGIN}/me`,
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer instanceof HttpFailure) return { kind: "failed", code: "network_unavailable" };
  const me = meShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || me === undefined)
    return { kind: "failed", code: "wrong_credentials" };
  const account = {
    id: me.id,
    username: me.name,
    displayName: me.name,
    avatarUrl: null,
    url: `https://pinboard.test/${me.name}`,
    kind: "account",
  };
  const linked = { account, credentials: { token }, scopes: ["pin"], limits: {} };
  return { kind: "linked", linked: { ...linked, instanceUrl: null, expiresAt: null } };
}

export const pinboardLink = {
  kind: "form",
  fields: [
    {
      name: "accessToken",
      label: "Access token",
      hint: "From your settings at Pinboard",
      secret: true,
    },
  ],
  signIn,
} as const satisfies LinkFlow;
