import { readdirSync, readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { contentTypeOf } from "../../src/shared/media/content-type.ts";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { checkMediaFile } from "../../src/shared/media/probe-media.ts";
import { refusalReason } from "../../src/shared/networks/contract/media-check.ts";
import type { MediaTargets } from "../../src/shared/networks/contract/media.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { compoundOf } from "./compound.ts";
import { inMemory } from "./in-memory.ts";
import { pdfOf } from "./pdfs.ts";
import { colorAt, noise } from "./pictures.ts";
import { BLUE, GREEN, RED, rawPhoto, REDUCED, tiffOf } from "./tiffs.ts";

const AT = "https://files.example.test/file";
const open = (bytes: Uint8Array, headers?: Readonly<Record<string, string>>) =>
  openMedia(inMemory(bytes, headers), AT, { bytesMax: 100_000_000, isThorough: true });

function targetsOf(network: NetworkName): MediaTargets {
  const targets = networkOf(network).media?.({ text: "", media: [], options: {} }, {});
  if (targets === undefined) throw new Error(`${network} takes no files`);
  return targets;
}

async function findings(bytes: Uint8Array, network: NetworkName) {
  const place = { field: "mediaUrls", mediaIndex: 0 };
  const probe = await open(bytes);
  return checkMediaFile(networkOf(network), targetsOf(network), { probe, ...place });
}

const rulesOf = async (bytes: Uint8Array, network: NetworkName) =>
  (await findings(bytes, network)).map(({ rule }) => rule.split(".").at(-1)).join(" ");

describe("a camera's raw photo", () => {
  const sensorAlone = { 254: 0, 262: 32_803, 277: 1 };
  test.each<readonly [string, Buffer, string]>([
    ["DNG", rawPhoto("Camera", { 50_706: 0x0401 }), "image/x-adobe-dng"],
    ["linear DNG", rawPhoto("Apple", { 50_706: 0x0701, 262: 34_892 }), "image/x-adobe-dng"],
    ["NEF", rawPhoto("NIKON CORPORATION"), "image/x-nikon-nef"],
    ["ARW", rawPhoto("SONY"), "image/x-sony-arw"],
    ["SRW", rawPhoto("SAMSUNG"), "image/x-samsung-srw"],
    ["3FR", rawPhoto("Hasselblad"), "image/x-hasselblad-3fr"],
    [
      "PEF in the other byte order",
      tiffOf([{ width: 40, height: 30, tags: { ...sensorAlone, 259: 65_535, 271: "PENTAX" } }], {
        isBigEndian: true,
      }),
      "image/x-pentax-pef",
    ],
    ["a raw file of another maker", rawPhoto("Somebody"), "image/x-raw"],
    [
      "a DNG in the form for large files",
      tiffOf([{ width: 40, height: 30, tags: { 50_706: 0x0401 } }], { isLarge: true }),
      "image/x-adobe-dng",
    ],
    ["RAF", Buffer.from("FUJIFILMCCD-RAW 0201FF383501".padEnd(400, "\0")), "image/x-fuji-raf"],
    ["ORF", Buffer.from("IIRO\u0008\0\0\0".padEnd(400, "\0")), "image/x-olympus-orf"],
    ["RW2", Buffer.from("IIU\0\u0018\0\0\0".padEnd(400, "\0")), "image/x-panasonic-rw2"],
    ["CR2", Buffer.from("II*\0\u0010\0\0\0CR\u0002\0".padEnd(400, "\0")), "image/x-canon-cr2"],
  ])("%s is refused by every network, with the words for it", async (_name, bytes, contentType) => {
    expect((await open(bytes)).contentType).toBe(contentType);
    for (const network of NETWORK_NAMES)
      expect(await findings(bytes, network)).toEqual([
        expect.objectContaining({
          severity: "error",
          rule: `${network}.media.raw`,
        }),
      ]);
  });

  test("is recognized although its directories are far behind its beginning", async () => {
    const raw = rawPhoto("SONY");
    const pixels = { width: 400, height: 300, color: RED };
    const long = tiffOf([
      {
        ...pixels,
        tags: { ...REDUCED, 271: "SONY" },
        below: [{ ...pixels, tags: { 262: 32_803 } }],
      },
    ]);
    expect(long.readUInt32LE(4)).toBeGreaterThan(131_072);
    for (const bytes of [raw, long])
      expect((await open(bytes)).contentType).toBe("image/x-sony-arw");
  });

  test("is refused when only its whole bytes show it", async () => {
    const raw = rawPhoto("SONY");
    const file = { ...(await open(raw)), contentType: "image/tiff" };
    await expect(fitImage(file, targetsOf("bluesky").image)).rejects.toMatchObject({
      reason: "raw",
    });
  });
});

describe("a picture that can't be converted", () => {
  test.each([["JPEG XL", "\xff\x0a", "image/jxl"]])(
    "in %s is refused in words about pictures",
    async (_name, start, contentType) => {
      const bytes = Buffer.from(start.padEnd(400, "\0"), "latin1");
      expect((await open(bytes)).contentType).toBe(contentType);
      for (const network of NETWORK_NAMES)
        expect(await findings(bytes, network)).toEqual([
          expect.objectContaining({
            rule: `${network}.media.imageType`,
          }),
        ]);
    },
  );
});

/** Made by qpdf in each form of encryption: those that need a password, and those that only forbid something. */
const PASSWORDS = new URL("./passwords/", import.meta.url);

describe("an encrypted PDF", () => {
  test.each(readdirSync(PASSWORDS))("is refused only if it needs a password: %s", async (name) => {
    const bytes = readFileSync(new URL(name, PASSWORDS));
    const needed = !name.includes("not-needed");
    expect(await rulesOf(bytes, "linkedin")).toBe(needed ? "password" : "");
    expect(await rulesOf(bytes, "facebook")).toBe("type");
  });

  test("is known by its end, however long it is", async () => {
    const bytes = readFileSync(new URL("128aes-needed.pdf", PASSWORDS));
    const end = bytes.subarray(bytes.indexOf("%PDF-1.7") + 8);
    const long = Buffer.concat([bytes.subarray(0, 8), Buffer.alloc(300_000, "\n%"), end]);
    expect(await rulesOf(long, "linkedin")).toBe("password");
  });
});

const WRITTEN = new URL("./written/", import.meta.url);
const written = (name: string) => readFileSync(new URL(name, WRITTEN));
const stream = (name: string, bytes = Buffer.alloc(0)) => ({ name, bytes });

/** A document of the old Word with one of its flags, which may be that for a password. */
const wordStream = (flags: number) =>
  stream(
    "WordDocument",
    Buffer.from(`eca5c100000000000000${flags === 0 ? "0000" : "0001"}`, "hex"),
  );

describe("an Office document", () => {
  const sealed = [stream("EncryptionInfo"), stream("EncryptedPackage")];
  const slides = stream("PowerPoint Document");
  test.each<[string, Buffer, string]>([
    ["a new one, encrypted", compoundOf(sealed), "password"],
    ["a new one, encrypted, in another order", compoundOf(sealed.toReversed()), "password"],
    ["an old text, encrypted", compoundOf([wordStream(1)]), "password"],
    ["an old text", compoundOf([wordStream(0)]), ""],
    ["old slides, encrypted", compoundOf([slides, stream("EncryptedSummary")]), "password"],
    ["old slides", compoundOf([slides]), ""],
    ["a text of another writer", written("words.doc"), ""],
    ["slides of another writer", written("slides.ppt"), ""],
    ["another file in this container", compoundOf([stream("Workbook")]), "type"],
  ])("is refused for LinkedIn only if it needs a password: %s", async (_what, bytes, rules) => {
    expect(await rulesOf(bytes, "linkedin")).toBe(rules);
  });

  test("is of its own type, whatever is embedded in it", async () => {
    const embedded = { name: "ObjectPool", nodes: [wordStream(1), ...sealed] };
    const bytes = compoundOf([embedded, slides]);
    expect(await open(bytes)).toMatchObject({ contentType: "application/vnd.ms-powerpoint" });
    expect(await rulesOf(bytes, "linkedin")).toBe("");
  });

  test("is refused by networks without documents for its type", async () => {
    expect(await rulesOf(compoundOf(sealed), "mastodon")).toBe("type");
  });

  test("with more slides than LinkedIn takes is refused", async () => {
    const entry = (name: string) => {
      const head = Buffer.alloc(46);
      head.write("PK\x01\x02", "latin1");
      head.writeUInt16LE(name.length, 28);
      return Buffer.concat([head, Buffer.from(name)]);
    };
    const slidesOf = (count: number) => {
      const first = Buffer.from("PK\x03\x04 ppt/presentation.xml".padEnd(60, " "), "latin1");
      const list = Buffer.concat([
        entry("[Content_Types].xml"),
        ...Array.from({ length: count }, (_none, index) => entry(`ppt/slides/slide${index}.xml`)),
        ...Array.from({ length: count }, (_none, index) =>
          entry(`ppt/slides/_rels/slide${index}.xml.rels`),
        ),
      ]);
      const end = Buffer.alloc(22);
      end.write("PK\x05\x06", "latin1");
      end.writeUInt32LE(list.length, 12);
      end.writeUInt32LE(first.length, 16);
      return Buffer.concat([first, list, end, Buffer.from("a comment")]);
    };
    expect((await open(written("slides.pptx"))).pages).toBe(1);
    expect(await rulesOf(slidesOf(300), "linkedin")).toBe("");
    expect(await rulesOf(slidesOf(301), "linkedin")).toBe("pages");
  });
});

describe("an Office document with macros", () => {
  const entry = (name: string) => {
    const head = Buffer.alloc(46);
    head.write("PK\x01\x02", "latin1");
    head.writeUInt16LE(name.length, 28);
    return Buffer.concat([head, Buffer.from(name)]);
  };
  const documentOf = (folder: string, ...parts: readonly string[]) => {
    const first = Buffer.from(`PK\x03\x04 ${folder}/document.xml`.padEnd(60, " "), "latin1");
    const list = Buffer.concat(parts.map((part) => entry(`${folder}/${part}`)));
    const end = Buffer.alloc(22);
    end.write("PK\x05\x06", "latin1");
    end.writeUInt32LE(list.length, 12);
    end.writeUInt32LE(first.length, 16);
    return Buffer.concat([first, list, end]);
  };
  test.each(["word", "ppt"])("is not taken for one without: %s", async (folder) => {
    const plain = documentOf(folder, "document.xml");
    expect(await rulesOf(plain, "linkedin")).toBe("");
    const bytes = documentOf(folder, "document.xml", "vbaProject.bin");
    expect((await open(bytes)).contentType).toContain("macroEnabled");
    for (const network of NETWORK_NAMES) expect(await rulesOf(bytes, network)).toBe("type");
  });
});

describe("a PDF that is a form for Adobe's programs alone", () => {
  const catalog = "/Type /Catalog /AcroForm << /XFA 3 0 R >> /NeedsRendering true";
  test.each([false, true])("is published with a warning (compressed: %s)", async (isCompressed) => {
    const form = pdfOf(1, { isCompressed, catalog });
    const probe = await open(form);
    expect(probe).toMatchObject({ pages: 1, isDynamicForm: true });
    const draft = { text: "", media: [{ url: AT, altText: null }], options: {} };
    const check = (file: typeof probe) =>
      networkOf("linkedin")
        .checkFiles?.(draft, {}, [file])
        .map(({ rule, severity }) => [rule, severity]);
    expect(check(probe)).toContainEqual(["linkedin.document.form", "warning"]);
    expect(check(await open(pdfOf(1, { isCompressed })))).toEqual([
      ["linkedin.document.title", "warning"],
    ]);
  });
});

describe("a PDF's number of pages", () => {
  test.each<[string, Buffer]>([
    ["in plain objects", pdfOf(301)],
    ["in compressed objects", pdfOf(301, { isCompressed: true })],
    ["in a file that was updated", pdfOf(301, { updates: 3 })],
    ["behind the header's place", Buffer.concat([Buffer.from("\r\n"), pdfOf(301)])],
  ])("is found: %s", async (_how, bytes) => {
    expect((await open(bytes)).pages).toBe(301);
    const [refused] = await findings(bytes, "linkedin");
    expect(refused).toMatchObject({
      rule: "linkedin.media.pages",
      values: { limit: 300 },
    });
    expect(await rulesOf(bytes, "bluesky")).toBe("type");
  });

  test("of 300 is taken", async () => {
    expect(await rulesOf(pdfOf(300), "linkedin")).toBe("");
  });

  test.each(["inkscape.pdf", "words.pdf"])(
    "is found in a file of another writer: %s",
    async (name) => {
      expect((await open(written(name))).pages).toBe(1);
    },
  );

  test("is found in an encrypted file that opens without a password", async () => {
    const encrypted = readFileSync(new URL("128aes-not-needed.pdf", PASSWORDS));
    expect((await open(encrypted)).pages).toBe(2);
  });

  test.each<[string, Buffer]>([
    ["a list that is elsewhere", pdfOf(301, { list: "<< /Type /Pages /Count 9 0 R >>" })],
    [
      "a root that leads nowhere",
      Buffer.from(pdfOf(2).toString("latin1").replace("/Pages 2 0", "/Pages 9 0")),
    ],
    ["no table", pdfOf(301).subarray(0, 4_000)],
    [
      "tables in a circle",
      Buffer.from(pdfOf(2).toString("latin1").replace("/Root 1 0 R", "/Prev 0 /Root 1 0 R")),
    ],
    [
      "a table of nonsense",
      Buffer.from(
        pdfOf(2, { isCompressed: true }).toString("latin1").replace("/W [1 2 2]", "/W [9 9 9]"),
        "latin1",
      ),
    ],
  ])("stays unknown, and the file is taken: %s", async (_what, bytes) => {
    const { pages, contentType } = await open(bytes);
    expect([pages, contentType]).toEqual([undefined, "application/pdf"]);
    expect(await rulesOf(bytes, "linkedin")).toBe("");
  });
});

describe("a TIFF is published as its picture", () => {
  const small = { width: 120, height: 80, color: RED };
  const large = { width: 600, height: 400, color: BLUE };
  const other = { width: 600, height: 600, color: GREEN };
  const mask = { ...large, color: GREEN, tags: { 254: 4 } };
  test.each([
    ["a marked thumbnail first", tiffOf([{ ...small, tags: REDUCED }, large])],
    ["a thumbnail with the older mark", tiffOf([{ ...small, tags: { 255: 2 } }, large])],
    ["a thumbnail without a mark", tiffOf([small, large])],
    ["two thumbnails first", tiffOf([{ ...small, tags: REDUCED }, small, large])],
    ["the picture below its thumbnail", tiffOf([{ ...small, tags: REDUCED, below: [large] }])],
    [
      "the picture as the second below",
      tiffOf([{ ...small, tags: REDUCED, below: [{ ...small, tags: REDUCED }, large] }]),
    ],
    ["a mask first", tiffOf([mask, large])],
    ["the thumbnail behind it", tiffOf([large, { ...small, tags: REDUCED }])],
    ["another page behind it", tiffOf([large, other])],
    ["the other byte order", tiffOf([{ ...small, tags: REDUCED }, large], { isBigEndian: true })],
    ["the form for large files", tiffOf([{ ...small, tags: REDUCED }, large], { isLarge: true })],
  ])("%s", async (_name, bytes) => {
    expect(await open(bytes)).toMatchObject({ width: 600, height: 400 });
    expect(await rulesOf(bytes, "bluesky")).toBe("converted extrasRemoved");
    const fitted = await fitImage(await open(bytes), targetsOf("bluesky").image);
    expect(fitted.repairs).toEqual(["converted", "extrasRemoved"]);
    expect(await sharp(fitted.bytes).metadata()).toMatchObject({ width: 600, height: 400 });
    expect(await colorAt(fitted.bytes, 0.5, 0.5)).toBe("blue");
  });

  test.each([
    ["a picture alone", tiffOf([large]), "blue"],
    [
      "a picture that is marked as reduced and alone",
      tiffOf([{ ...large, tags: REDUCED }]),
      "blue",
    ],
    [
      "a page and a larger one of another shape",
      tiffOf([{ ...small, color: BLUE }, other]),
      "blue",
    ],
  ])("%s", async (_name, bytes, color) => {
    const fitted = await fitImage(await open(bytes), targetsOf("bluesky").image);
    expect(await colorAt(fitted.bytes, 0.5, 0.5)).toBe(color);
  });

  test("directories in a circle end", async () => {
    const bytes = tiffOf([large, small]);
    const first = bytes.readUInt32LE(4);
    const count = bytes.readUInt16LE(first);
    bytes.writeUInt32LE(first, first + 2 + count * 12);
    expect(await rulesOf(bytes, "bluesky")).toBe("converted");
  });
});

describe("a web page instead of the file", () => {
  type Headers = Readonly<Record<string, string>>;
  type Page = readonly [name: string, bytes: Uint8Array, headers: Headers];
  type Other = readonly [name: string, bytes: Uint8Array, contentType: string, headers: Headers];
  const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
  test.each<Page>([
    ["a viewer's page", Buffer.from(page), {}],
    ["without a doctype", Buffer.from("<html lang=en><body>File</body></html>"), {}],
    [
      "after white space and comments",
      Buffer.from(`\n\n <!-- saved -->\n<!-- v2 -->\n${page}`),
      {},
    ],
    ["after a byte order mark", Buffer.from(`\ufeff${page}`), {}],
    ["as XHTML", Buffer.from(`<?xml version="1.0"?>\n${page}`), {}],
    ["in UTF-16", utf16(page), {}],
    ["in UTF-16 of the other order", Buffer.from(utf16(page)).swap16(), {}],
    ["a script alone", Buffer.from("<script>location='/login'</script>"), {}],
    [
      "by its server's word alone",
      Buffer.from("Please wait while your browser is being checked."),
      { "content-type": "text/html; charset=utf-8" },
    ],
  ])("%s is called what it is", async (_name, bytes, headers) => {
    await expect(open(bytes, headers)).rejects.toMatchObject({
      code: "media_rejected",
      reason: "webPage",
    });
  });

  test.each<Other>([
    [
      "a drawing",
      Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"),
      "application/octet-stream",
      {},
    ],
    ["words with a sign", Buffer.from("<3 pages follow"), "application/octet-stream", {}],
    [
      "a picture that its server calls a page",
      tiffOf([{ width: 2, height: 2 }]),
      "image/tiff",
      { "content-type": "text/html" },
    ],
    [
      "unknown bytes that its server calls a page",
      Buffer.alloc(99),
      "application/octet-stream",
      { "content-type": "text/html" },
    ],
  ])("%s is none", async (_name, bytes, contentType, headers) => {
    expect((await open(bytes, headers)).contentType).toBe(contentType);
  });
});

describe("a PDF with bytes before its header", () => {
  const pdf = "%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
  const form = "------WebKitFormBoundary7MA4\r\nContent-Disposition: form-data; name=file\r\n\r\n";
  test.each([
    ["none", ""],
    ["a byte order mark", "\u00ef\u00bb\u00bf"],
    ["a line break", "\r\n"],
    ["the head of a form", form],
    ["1,023 spaces", " ".repeat(1_023)],
  ])("%s: is read and sent from its header on", async (_name, before) => {
    const file = await open(Buffer.from(before + pdf, "latin1"));
    expect(file).toMatchObject({ contentType: "application/pdf", size: pdf.length });
    expect(refusalReason(file, targetsOf("linkedin"))).toBeUndefined();
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.chunks()) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString("latin1")).toBe(pdf);
    expect(Buffer.from(await file.read(0, 4)).toString()).toBe("%PDF-");
  });

  test("is none when its header is further behind", () => {
    expect(contentTypeOf(Buffer.from(" ".repeat(1_024) + pdf))).toBe("application/octet-stream");
  });
});

describe("a picture that lacks its end", () => {
  const photo = (size = 400) =>
    sharp(noise(size * size * 3), { raw: { width: size, height: size, channels: 3 } });
  const jpeg = (size?: number) => photo(size).jpeg().toBuffer();
  const progressive = () => photo().jpeg({ progressive: true }).toBuffer();
  const png = () => photo(60).png().toBuffer();

  test.each<readonly [string, () => Promise<Buffer>, number]>([
    ["a JPEG without its marker", () => jpeg(), 2],
    ["a JPEG without half of its marker", () => jpeg(), 1],
    ["a long JPEG", () => jpeg(900), 2],
    ["a progressive JPEG", progressive, 2],
    ["a PNG without its last chunk", png, 12],
    ["a PNG with a part of its last chunk", png, 4],
  ])("%s is completed, and nothing else changes", async (_name, make, missing) => {
    const whole = await make();
    const bytes = whole.subarray(0, -missing);
    expect(await rulesOf(bytes, "mastodon")).toBe("completed");
    const fitted = await fitImage(await open(bytes), targetsOf("mastodon").image);
    expect(fitted.repairs).toEqual(["completed"]);
    expect(Buffer.from(fitted.bytes).equals(whole)).toBe(true);
  });

  test.each<readonly [string, () => Promise<Buffer>]>([
    ["half of a JPEG", async () => (await jpeg()).subarray(0, 40_000)],
    ["a JPEG without its last lines", async () => (await jpeg()).subarray(0, -300)],
    ["a long JPEG without its last lines", async () => (await jpeg(900)).subarray(0, -300)],
    ["a progressive JPEG without its last scan", async () => withoutLastScan(await progressive())],
    ["a progressive JPEG within a scan", async () => (await progressive()).subarray(0, -300)],
    ["a PNG without its last lines", async () => (await png()).subarray(0, -300)],
  ])("%s is refused as damaged", async (_name, make) => {
    const bytes = await make();
    const target = targetsOf("mastodon").image;
    const fitting = open(bytes).then((file) => fitImage(file, target));
    await expect(fitting).rejects.toMatchObject({ code: "media_rejected", reason: "damaged" });
  });
});

/** The JPEG up to where its last scan begins. */
function withoutLastScan(jpeg: Buffer): Buffer {
  const scan = jpeg.lastIndexOf(Buffer.from([0xff, 0xda]));
  const tables = jpeg.lastIndexOf(Buffer.from([0xff, 0xc4]), scan);
  return jpeg.subarray(0, tables);
}
