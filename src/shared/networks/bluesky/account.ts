import * as z from "zod";
import { exchange } from "../contract/classified.ts";
import type { Account, NetworkTools } from "../contract/network.ts";
import type { HttpRequest } from "../../runtime/http-call.ts";
import { HttpFailure } from "../../runtime/http-call.ts";

/**
 * The profile is decoration: a server without a view of the network can't tell it, and is as good to publish with.
 * `request` asks for it, with or without the account's own authority.
 */
export async function readAccount(
  { did, handle }: { readonly did: string; readonly handle: string },
  request: Pick<HttpRequest, "headers"> & { readonly origin: string },
  tools: NetworkTools,
): Promise<Account> {
  const { origin, headers = {} } = request;
  const answer = await exchange(tools, {
    method: "GET",
    url: `${origin}/xrpc/app.bsky.actor.getProfile?actor=${encodeURIComponent(did)}`,
    headers,
  });
  const shape = z.object({ displayName: z.string().optional(), avatar: z.url().optional() });
  const profile = shape.safeParse(answer instanceof HttpFailure ? undefined : answer.json()).data;
  return {
    id: did,
    username: handle,
    displayName: profile?.displayName?.trim() || handle,
    avatarUrl: profile?.avatar ?? null,
    url: `https://bsky.app/profile/${did}`,
    kind: "person",
  };
}

/** What the account's server tells of its own limits. */
export async function readLimits(
  pds: string,
  tools: NetworkTools,
): Promise<Record<string, number>> {
  const answer = await exchange(tools, {
    method: "GET",
    url: `${pds}/xrpc/com.atproto.server.describeServer`,
  });
  const shape = z.object({ blobUploadLimit: z.number().int().positive() });
  const parsed = shape.safeParse(answer instanceof HttpFailure ? undefined : answer.json());
  return parsed.success ? { blobBytesMax: parsed.data.blobUploadLimit } : {};
}
