import type { ProfileScope } from "../../callers/scope.ts";
import type { Issue } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import type { Draft } from "../post.ts";
import { lookForPost } from "../read/read-posts.ts";

/** Returns an issue for each of the named networks that the post doesn't have. */
export function foreignIssues(draft: Draft, networks: readonly string[]): readonly Issue[] {
  return networks.flatMap((network, index) =>
    draft.networks.some((own) => own === network)
      ? []
      : [
          {
            path: `platforms.${index}`,
            code: "not_in_post",
            message: `must be a network of this post: ${draft.networks.join(", ")}`,
          },
        ],
  );
}

/** Returns issues that the schema of a request for some of a post's legs doesn't report. */
export async function issuesOfPlatforms(
  deps: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly platforms: unknown },
): Promise<readonly Issue[]> {
  const found = await lookForPost(deps.stores.posts, scope, input.postId);
  const named: readonly unknown[] = Array.isArray(input.platforms) ? input.platforms : [];
  return found === undefined ? [] : foreignIssues(found.post.draft, named.map(String));
}
