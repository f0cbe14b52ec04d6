import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/classified.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { GraphAccess } from "./request.ts";
import { graphGet } from "./request.ts";

const pageShape = shape(() =>
  z.object({
    data: z.array(z.unknown()),
    paging: z
      .object({
        next: z.string().optional().catch(undefined),
        cursors: z.object({ after: z.string() }).optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
);

interface Edge {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly pagesMax: number;
}

/**
 * The entries of a list over its pages, or the answer that was none. Pages are asked for by their cursor, for the
 * address that Meta gives carries the token.
 */
export async function readEdge<Entry>(
  access: GraphAccess,
  { path, query, pagesMax }: Edge,
  entryShape: z.ZodType<Entry>,
  tools: NetworkTools,
): Promise<readonly Entry[] | HttpResponse | HttpFailure> {
  const entries: Entry[] = [];
  let position: Readonly<Record<string, string>> = {};
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await exchange(tools, graphGet(access, path, { ...query, ...position }));
    if (answer instanceof HttpFailure) return answer;
    const parsed = pageShape().safeParse(answer.json()).data;
    if (answer.status !== 200 || parsed === undefined) return answer;
    // An entry of another shape is not one that we look for.
    entries.push(...parsed.data.flatMap((entry) => entryShape.safeParse(entry).data ?? []));
    const next = nextPosition(parsed.paging);
    if (next === undefined) break;
    position = next;
  }
  return entries;
}

export function isEdge<Entry>(
  read: readonly Entry[] | HttpResponse | HttpFailure,
): read is readonly Entry[] {
  return Array.isArray(read);
}

/** Lists by time have no cursors, only bounds in the address of the next page. */
function nextPosition(
  paging: ShapeOf<typeof pageShape>["paging"],
): Record<string, string> | undefined {
  if (paging?.next === undefined) return undefined;
  if (paging.cursors !== undefined) return { after: paging.cursors.after };
  if (!URL.canParse(paging.next)) return undefined;
  const given = new URL(paging.next).searchParams;
  const bounds = ["after", "until", "offset", "__paging_token"].flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds);
}
