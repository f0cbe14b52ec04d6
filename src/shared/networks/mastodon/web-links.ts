import * as z from "zod";
import { shape } from "../../runtime/shape.ts";

const documentShape = shape(() =>
  z.object({ links: z.array(z.record(z.string(), z.unknown()).catch({})) }),
);

/**
 * Returns what the links of one relation say under `name`, of a WebFinger or host-meta document as JSON (RFC 7033, 4.4;
 * RFC 6415, appendix A). Passes over links in other forms: servers add their own.
 */
export function linkedBy(json: unknown, rel: string, name: "href" | "template"): readonly string[] {
  const links = documentShape().safeParse(json).data?.links ?? [];
  return links
    .filter((link) => link["rel"] === rel)
    .map((link) => link[name])
    .filter((value) => typeof value === "string");
}
