import { expect, test } from "vitest";
import { blobContentId, recordContentId, tid } from "../../dev/networks/bluesky/content-id.ts";

const NEW_YEAR = BigInt(Date.parse("2026-01-01T00:00:00Z")) * 1000n;
const HELLO = "bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq";

test("a file's id is the one that every IPLD library computes", () => {
  expect(blobContentId(Buffer.from("hello"))).toBe(HELLO);
});

// The expected ids are those of @ipld/dag-cbor with multiformats.
test.each([
  ["an empty record", {}, "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"],
  [
    "a record with numbers of every length, links and text beyond ASCII",
    {
      $type: "app.bsky.feed.post",
      text: "Héllo 👋",
      createdAt: "2026-11-20T09:00:00.000Z",
      langs: ["en"],
      n: [
        0, 23, 24, 255, 256, 65535, 65536, 4294967295, 4294967296, 9007199254740991, -1, -24, -25,
        -300,
      ],
      t: true,
      f: false,
      z: null,
      long: "x".repeat(300),
      embed: {
        $type: "app.bsky.embed.images",
        images: [
          {
            alt: "",
            image: { $type: "blob", ref: { $link: HELLO }, mimeType: "image/jpeg", size: 5 },
            aspectRatio: { width: 1200, height: 800 },
          },
        ],
      },
    },
    "bafyreib7edawupwubdrnhgccz5usfkrnmmpy5xce4d7gj7fo2fqysx2xdq",
  ],
])("the id of %s is the one that every IPLD library computes", (_name, record, id) => {
  expect(recordContentId(record)).toBe(id);
});

test.each([
  [0n, 0, "3mbd3542k2222"],
  [0n, 1023, "3mbd3542k22zz"],
  [1n, 0, "3mbd3542k2322"],
])("a record key follows the specification: +%s µs, clock %s", (later, clock, expected) => {
  expect(tid(NEW_YEAR + later, clock)).toBe(expected);
});

test("a fraction can't be stored", () => {
  expect(() => recordContentId({ ratio: 1.5 })).toThrow(RangeError);
});
