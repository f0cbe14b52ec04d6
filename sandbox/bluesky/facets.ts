import { isObject } from "../exchange.ts";
import type { TextSegment } from "../network.ts";
import { RecordProblem, Shape, isDid } from "./shape.ts";

function checkFeature(feature: Shape): void {
  switch (feature.string("$type")) {
    case "app.bsky.richtext.facet#link": {
      const uri = feature.string("uri");
      if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(uri))
        feature.fail("uri", `Invalid uri (got ${JSON.stringify(uri)})`);
      return;
    }
    case "app.bsky.richtext.facet#mention": {
      const did = feature.string("did");
      if (!isDid(did)) feature.fail("did", `Invalid DID (got ${JSON.stringify(did)})`);
      return;
    }
    case "app.bsky.richtext.facet#tag":
      feature.string("tag", { bytesMax: 640, graphemesMax: 64 });
      return;
    default:
      feature.fail("$type", "Expected a link, mention or tag feature");
  }
}

function startsCharacter(bytes: Buffer, offset: number): boolean {
  const byte = bytes[offset];
  return byte === undefined || (byte & 0xc0) !== 0x80;
}

/**
 * Checks the facets' shape and their byte ranges. The reference server stores ranges that lie outside the text, cut a
 * character or overlap, and clients then show them misplaced; the sandbox refuses them, so that such a defect is seen.
 */
export function checkFacets(facets: readonly unknown[], text: string): void {
  const bytes = Buffer.from(text);
  const taken: { start: number; end: number }[] = [];
  for (const [number, value] of facets.entries()) {
    const path = ["facets", number];
    if (!isObject(value)) throw new RecordProblem("Expected object value type", path);
    const facet = new Shape(value, path);
    const index = facet.object("index");
    const start = index.integer("byteStart", 0);
    const end = index.integer("byteEnd", 0);
    if (end <= start || end > bytes.length)
      facet.fail(
        "index",
        `byte range ${start}-${end} is not inside the text of ${bytes.length} bytes`,
      );
    if (!startsCharacter(bytes, start) || !startsCharacter(bytes, end))
      facet.fail("index", `byte range ${start}-${end} cuts a character`);
    if (taken.some((other) => start < other.end && other.start < end))
      facet.fail("index", `byte range ${start}-${end} overlaps another facet`);
    taken.push({ start, end });
    facet.required("features");
    const features = facet.objects("features", 10);
    for (const feature of features) checkFeature(feature);
  }
}

function hrefOf(feature: unknown): string | undefined {
  if (!isObject(feature)) return undefined;
  const { uri, did, tag } = feature;
  if (typeof uri === "string") return uri;
  if (typeof did === "string") return `https://bsky.app/profile/${did}`;
  return typeof tag === "string"
    ? `https://bsky.app/hashtag/${encodeURIComponent(tag)}`
    : undefined;
}

/** The text cut at its facets, each piece with where it leads. Only for facets that were checked. */
export function segmentsOf(text: string, facets: readonly unknown[]): TextSegment[] {
  const bytes = Buffer.from(text);
  const ranges = facets
    .flatMap((facet) => {
      if (!isObject(facet) || !isObject(facet["index"]) || !Array.isArray(facet["features"]))
        return [];
      const { byteStart, byteEnd } = facet["index"];
      const href = hrefOf(facet["features"][0]);
      return href === undefined ? [] : [{ start: Number(byteStart), end: Number(byteEnd), href }];
    })
    .sort((a, b) => a.start - b.start);
  const segments: TextSegment[] = [];
  let at = 0;
  for (const { start, end, href } of ranges) {
    if (start > at) segments.push({ text: bytes.toString("utf8", at, start) });
    segments.push({ text: bytes.toString("utf8", start, end), href });
    at = end;
  }
  if (at < bytes.length) segments.push({ text: bytes.toString("utf8", at) });
  return segments;
}
