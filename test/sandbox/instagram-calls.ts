import { beforeEach } from "vitest";
import { DEMO_ACCOUNT } from "../../dev/networks/instagram/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

export const GRAPH = "graph.instagram.com";
export const MEDIA = "https://media.sandbox.test";
export const DAY_MS = 24 * 3_600_000;

export function errorOf(reply: Reply): Record<string, unknown> {
  return (reply.json["error"] ?? {}) as Record<string, unknown>;
}

export function codesOf(reply: Reply): unknown[] {
  return [errorOf(reply)["code"], errorOf(reply)["error_subcode"]];
}

export function dataOf(reply: Reply): Record<string, unknown>[] {
  return reply.json["data"] as Record<string, unknown>[];
}

/** The sandbox's Instagram for a test file, with a fresh token before every test. */
export function useInstagram(keep?: (fresh: { readonly token: string }) => void) {
  const at = useSandbox();

  let token: string;

  /** From now on within the test. */
  function speakWith(given: string): void {
    token = given;
    keep?.({ token });
  }
  beforeEach(() => speakWith(at.sandbox.networks.instagram.issueToken().accessToken));

  const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call(GRAPH, `/v26.0${path}`, { token, ...options });
  const container = (form: Record<string, string>): Promise<Reply> =>
    graph(`/${DEMO_ACCOUNT}/media`, { form });
  const publish = (id: unknown): Promise<Reply> =>
    graph(`/${DEMO_ACCOUNT}/media_publish`, { form: { creation_id: String(id) } });
  const made = async (form: Record<string, string>) => String((await container(form)).json["id"]);
  const image = (form: Record<string, string> = {}) =>
    made({ image_url: `${MEDIA}/portrait.jpg`, ...form });
  const status = async (id: string) =>
    (await graph(`/${id}?fields=status_code,status`)).json as {
      status_code: string;
      status: string;
    };
  const shown = () => at.sandbox.posts("instagram");

  /** Looks until the container is done; returns how often it was not. */
  async function settle(id: string): Promise<number> {
    for (let look = 0; look < 20; look += 1)
      if ((await status(id)).status_code !== "IN_PROGRESS") return look;
    throw new Error("the container is never done");
  }

  return { at, speakWith, graph, container, publish, made, image, status, shown, settle };
}
