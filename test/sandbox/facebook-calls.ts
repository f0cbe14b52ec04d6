import { beforeEach } from "vitest";
import { DEMO_PAGE } from "../../dev/networks/facebook/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

export const GRAPH = "graph.facebook.com";
export const MEDIA = "https://media.sandbox.test";

export function errorOf(reply: Reply): Record<string, unknown> {
  return reply.json["error"] as Record<string, unknown>;
}

export function dataOf(reply: Reply): Record<string, unknown>[] {
  return reply.json["data"] as Record<string, unknown>[];
}

/** The sandbox's Facebook for a test file, with fresh tokens before every test. */
export function useFacebook(
  keep?: (fresh: { readonly page: string; readonly user: string }) => void,
) {
  const at = useSandbox();

  let page: string;
  let user: string;

  beforeEach(() => {
    const issued = at.sandbox.networks.facebook.issueToken();
    [page, user] = [issued.pageToken, issued.userToken];
  });

  const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call(GRAPH, `/v26.0${path}`, { token: page, ...options });
  const post = (path: string, json: Record<string, unknown>): Promise<Reply> =>
    graph(path, { json });
  const feed = (json: Record<string, unknown>) => post(`/${DEMO_PAGE}/feed`, json);
  const photo = async (json: Record<string, unknown> = {}) =>
    String(
      (await post(`/${DEMO_PAGE}/photos`, { url: `${MEDIA}/photo.jpg`, published: false, ...json }))
        .json["id"],
    );
  const shown = () => at.sandbox.posts("facebook");

  beforeEach(() => keep?.({ page, user }));
  return { at, graph, post, feed, shown, photo };
}
