import {
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
} from "../../src/shared/runtime/http-call.ts";
import type { Relay } from "../setup/relay.ts";

export type Deletion = "gone" | "lost" | "lost_before" | "down" | "forbidden" | "revoked";

function answer(status: number, body: object): HttpResponse {
  const text = JSON.stringify(body);
  return {
    status,
    headers: { "content-type": "application/json" },
    body: Buffer.from(text),
    text: () => text,
    json: () => body,
  };
}

/** Answers the deletions of a relay as it is told, and knows what is gone. Other calls go to the sandbox. */
export class Deletions {
  /** The answers that come next; then each succeeds. */
  readonly next: Deletion[] = [];
  readonly calls: string[] = [];
  readonly gone = new Set<string>();
  /** Runs while a deletion is under way. */
  during: () => Promise<unknown> = () => Promise.resolve();

  watch({ services }: Relay): void {
    const { outbound } = services.connections;
    const request = outbound.request.bind(outbound);
    outbound.request = async (asked) => {
      const id = idOf(asked);
      return id === undefined ? request(asked) : this.#answer(id);
    };
  }

  async #answer(id: string): Promise<HttpResponse> {
    this.calls.push(id);
    await this.during();
    switch (this.next.shift() ?? "gone") {
      case "gone":
        this.gone.add(id);
        return answer(200, {});
      case "lost":
        this.gone.add(id);
        throw new HttpFailure("in_doubt", "timeout");
      case "lost_before":
        throw new HttpFailure("in_doubt", "timeout");
      case "down":
        return answer(503, { error: "down" });
      case "forbidden":
        return answer(403, { error: "This action is outside the authorized scopes" });
      case "revoked":
        return answer(401, { error: "The access token is invalid" });
    }
  }
}

/** Returns what a request deletes; undefined if it deletes no post. */
function idOf({ method, url, body }: HttpRequest): string | undefined {
  const { pathname } = new URL(url);
  if (method === "DELETE" && pathname.includes("/statuses/")) return pathname.split("/").at(-1);
  if (!pathname.endsWith("com.atproto.repo.deleteRecord") || typeof body !== "string")
    return undefined;
  return (JSON.parse(body) as { readonly rkey: string }).rkey;
}
