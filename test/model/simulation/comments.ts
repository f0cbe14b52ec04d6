import type { FollowUp, FollowUpCall } from "../../../src/shared/networks/contract/visible-call.ts";
import type { LegFailure } from "../../../src/shared/networks/contract/outcome.ts";
import type { NetworkTools } from "../../../src/shared/networks/contract/tools.ts";
import { networkOf } from "../../../src/shared/networks/networks.ts";
import { HttpFailure, type HttpResponse } from "../../../src/shared/runtime/http-call.ts";

/* First comments on the networks of the simulation, which have none: nothing knows a comment again, a list shows all. */

export const COMMENTS_HOST = "comments.example.com";
export const NETWORKS = ["bluesky", "mastodon"] as const;
/** Longer than a call that was lost takes to have its effect. */
const SHOWN_MS = 30_000;
const LOOK_SECONDS = 10;

const unknown: LegFailure = { code: "outcome_unknown", networkCode: null };
const away: LegFailure = { code: "network_unavailable", networkCode: null };

async function ask(
  tools: NetworkTools,
  request: { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object },
): Promise<HttpResponse | HttpFailure> {
  const { method, path, body } = request;
  try {
    return await tools.http({
      method,
      url: `https://${COMMENTS_HOST}/${path}`,
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}

const pathOf = ({ externalId }: FollowUp) => `comments?post=${encodeURIComponent(externalId)}`;

export const COMMENT: FollowUpCall = {
  async perform(call, tools) {
    const answer = await ask(tools, {
      method: "POST",
      path: pathOf(call),
      body: { text: call.text },
    });
    if (answer instanceof HttpFailure)
      return answer.delivery === "not_sent"
        ? { kind: "try_later", failure: away }
        : { kind: "unknown", failure: unknown, pollAfterSeconds: LOOK_SECONDS };
    if (answer.status === 200) return { kind: "done", externalId: call.externalId, url: null };
    if (answer.status >= 500) return { kind: "unknown", failure: unknown };
    return answer.status === 429
      ? { kind: "try_later", failure: away, isProof: true }
      : { kind: "rejected", failure: { code: "content_rejected", networkCode: null } };
  },
  async find(call, tools) {
    const notYet = {
      kind: "not_yet",
      failure: unknown,
      pollAfterSeconds: LOOK_SECONDS,
    } as const;
    const answer = await ask(tools, { method: "GET", path: pathOf(call) });
    if (answer instanceof HttpFailure || answer.status !== 200) return notYet;
    const texts = answer.json() as readonly string[];
    if (texts.includes(call.text ?? ""))
      return { kind: "done", externalId: call.externalId, url: null };
    const ageMs = tools.now().getTime() - (call.sentAt?.getTime() ?? 0);
    return ageMs < SHOWN_MS ? notYet : { kind: "absent" };
  },
};

/** For the time of a run, networks that take first comments. */
export function withComments(comment: FollowUpCall = COMMENT): () => void {
  const restore = NETWORKS.map((name) => {
    const network = networkOf(name);
    const { calls } = network;
    Object.assign(network, { calls: { ...calls, comment } });
    return () => void Object.assign(network, { calls });
  });
  return () => {
    for (const one of restore) one();
  };
}

export const commentText = (key: string, network: string) => `The comment of ${key} on ${network}.`;
