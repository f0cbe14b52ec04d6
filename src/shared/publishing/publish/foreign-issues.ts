import type { Issue } from "../../runtime/errors.ts";
import type { Draft } from "../post.ts";

/** Returns an issue for each of the named networks that the post does not have. */
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
