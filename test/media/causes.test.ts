import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { undelivered } from "../../src/shared/networks/contract/unreachable.ts";
import { publicUrl, fileUrl } from "../../src/shared/networks/options.ts";
import { toFailure } from "../../src/shared/runtime/outbound-body.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { documentTitleOf } from "../../src/shared/networks/linkedin/rules.ts";
import {
  FILES_HOST,
  outboundTo,
  serveFiles,
  whole,
  type FileServer,
  type Serve,
} from "./file-server.ts";
import { flag } from "./pictures.ts";

let server: FileServer;
let outbound: Outbound;
const at = (path: string) => `https://${FILES_HOST}${path}`;
const open = (path: string) => openMedia(outbound, at(path), { bytesMax: 10_000_000 });
const redirect =
  (location: string): Serve =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();
const status =
  (code: number): Serve =>
  (_request, response) =>
    void response.writeHead(code).end();
/** An address on the same server of so many characters. */
const long = (length: number) => at("/photo.jpg?").padEnd(length, "x");

const STATUSES = [401, 403, 404, 410, 418, 429, 500, 503];
beforeAll(async () => {
  const photo = await flag().jpeg().toBuffer();
  const withHeaders =
    (bytes: number): Serve =>
    (request, response) => {
      for (let index = 0; index * 8_000 < bytes; index += 1)
        response.setHeader(`x-policy-${index}`, "p".repeat(Math.min(8_000, bytes)));
      whole(photo)(request, response);
    };
  server = await serveFiles({
    "/photo.jpg": whole(photo),
    "/long-8192": redirect(long(8_192)),
    "/long-8193": redirect(long(8_193)),
    "/plain": redirect("ftp://files.example.org/photo.jpg"),
    "/secret": redirect("https://user:word@files.example.org/photo.jpg"),
    "/port": redirect("https://files.example.org:22/photo.jpg"),
    "/private": redirect("https://10.0.0.1/photo.jpg"),
    "/inside": redirect("https://printer.local/photo.jpg"),
    "/headers-40": withHeaders(40_000),
    "/headers-300": withHeaders(300_000),
    "/named": (request, response) => {
      response.setHeader("content-disposition", "attachment; filename=plan.pdf");
      whole(Buffer.from("%PDF-1.4 %%EOF"))(request, response);
    },
    ...Object.fromEntries(STATUSES.map((code) => [`/status-${code}`, status(code)])),
  });
  outbound = outboundTo(server);
});
afterAll(async () => {
  await outbound.close();
  await server.close();
});

describe("the cause of a file that can't be fetched has a rule of its own", () => {
  test.each([
    ["/long-8193", "addressLength"],
    ["/plain", "addressScheme"],
    ["/secret", "addressCredentials"],
    ["/port", "addressPort"],
    ["/private", "addressHost"],
    ["/inside", "addressHost"],
    ["/headers-300", "headersTooLarge"],
    ["/status-401", "statusForbidden"],
    ["/status-403", "statusForbidden"],
    ["/status-404", "statusMissing"],
    ["/status-410", "statusMissing"],
    ["/status-418", "status"],
    ["/status-429", "statusThrottled"],
    ["/status-500", "statusServer"],
    ["/status-503", "statusServer"],
  ])("%s: %s", async (path, subject) => {
    await expect(open(path)).rejects.toMatchObject({ code: "media_unreachable", subject });
  });

  test("a private host and one that doesn't exist are the same cause", () => {
    const failed = (code: string) => undelivered(toFailure(Object.assign(new Error(), { code })));
    const [hidden, missing, unanswered] = ["EBLOCKED", "ENOTFOUND", "EAI_AGAIN"].map(failed);
    for (const other of [missing, unanswered])
      expect(other).toMatchObject({ subject: "addressHost", message: hidden?.message });
    expect(failed("ECONNREFUSED").subject).toBe("connectFailed");
  });
});

describe("what a server sends is read", () => {
  test("a redirect to an address of 8,192 characters is followed", async () => {
    expect((await open("/long-8192")).contentType).toBe("image/jpeg");
  });

  test("a file behind 40,000 bytes of headers is read", async () => {
    expect((await open("/headers-40")).contentType).toBe("image/jpeg");
  });

  test("the address of a file may have 8,192 characters, and other addresses 2,048", () => {
    expect(fileUrl().safeParse(long(8_192)).success).toBe(true);
    expect(fileUrl().safeParse(long(8_193)).success).toBe(false);
    expect(publicUrl().safeParse(long(2_049)).success).toBe(false);
  });
});

describe("the title of a document", () => {
  const titled = (disposition: string) => async () => {
    const headers = { "content-disposition": disposition };
    const file = await openNamed(headers);
    const media = [{ url: "https://files.example.com/download?id=7f3a", altText: null }];
    return documentTitleOf({ text: "", media, options: {} }, file.name);
  };
  const openNamed = async (headers: Readonly<Record<string, string>>) => {
    const { inMemory } = await import("./in-memory.ts");
    const pdf = Buffer.from("%PDF-1.4\n%%EOF");
    return openMedia(inMemory(pdf, headers), at("/download"), { bytesMax: 1_000 });
  };
  test.each([
    [
      `attachment; filename="Quartalsbericht.pdf"; filename*=UTF-8''Quartalsbericht%20Q3%20%E2%82%AC.pdf`,
      "Quartalsbericht Q3 €",
    ],
    [`attachment; filename*=UTF-8''Plan.pdf; filename=other.pdf`, "Plan"],
    [`attachment; filename*=iso-8859-1'de'K%F6ln.pdf`, "Köln"],
    ['inline; filename="a; b \\"c\\".pdf"', 'a; b "c"'],
    ["attachment; filename=annual_report.pdf", "annual report"],
    ['attachment; filename="C:\\\\files\\\\Plan.pdf"', "Plan"],
    [Buffer.from('attachment; filename="Größe.pdf"').toString("latin1"), "Größe"],
    ["attachment", "download"],
    ["", "download"],
  ])("%s: %s", async (disposition, title) => {
    expect(await titled(disposition)()).toBe(title);
  });

  test("is in the answer of a server as it is", async () => {
    expect((await open("/named")).name).toBe("plan.pdf");
  });
});
