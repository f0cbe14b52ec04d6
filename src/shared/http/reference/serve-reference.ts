import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { html } from "../../connections/connections.ts";
import type { Config } from "../../config/config.ts";
import { Reply } from "../reply.ts";
import {
  BASE_URL_PLACE,
  SERVICE_NAME_PLACE,
  type ReferenceName,
  type ReferenceTexts,
} from "./reference-texts.ts";

/** The name of a service that has no other. */
const NAMELESS = "Publishing Relay";

const TYPES: Readonly<Record<ReferenceName, string>> = {
  openapi: "application/json; charset=utf-8",
  docs: "text/html; charset=utf-8",
  markdown: "text/markdown; charset=utf-8",
  llms: "text/markdown; charset=utf-8",
};

/** Escapes a value for the document's format. */
const WRITTEN: Readonly<Record<ReferenceName, (value: string) => string>> = {
  openapi: (value) => JSON.stringify(value).slice(1, -1),
  docs: (value) => html`${value}`.text,
  markdown: (value) => value,
  llms: (value) => value,
};

const pageHeaders = () => [
  ["content-security-policy", readTexts().docsPolicy] as const,
  ["x-frame-options", "DENY"] as const,
  ["referrer-policy", "no-referrer"] as const,
];

const ENCODINGS = ["br", "gzip", "identity"] as const;
type Encoding = (typeof ENCODINGS)[number];

const compressed: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Uint8Array>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
  identity: (bytes) => Promise.resolve(bytes),
};

/** Chooses the best encoding that the reader accepts (RFC 9110, 12.5.3). */
export function encodingFor(accepted: string | null): Encoding {
  const weights = new Map(
    (accepted ?? "").split(",").map((part) => {
      const [name = "", ...parameters] = part.toLowerCase().split(";");
      const weight = parameters.map((text) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(text)?.[1]);
      return [name.trim(), Number(weight.find((found) => found !== undefined) ?? 1)] as const;
    }),
  );
  return ENCODINGS.find((name) => (weights.get(name) ?? weights.get("*") ?? 0) > 0) ?? "identity";
}

/** Where the build writes the texts: next to the bundle, whose chunks are in a folder below it. */
const FILE = new URL(
  import.meta.url.endsWith(".ts") ? "../../../../dist/reference.json" : "../reference.json",
  import.meta.url,
);

let texts: ReferenceTexts | undefined;

/** Reads what the build rendered, once. */
function readTexts(): ReferenceTexts {
  // Safe: the build writes the file from this type.
  texts ??= JSON.parse(readFileSync(FILE, "utf8")) as ReferenceTexts;
  return texts;
}

interface ServedDocuments {
  readonly for: string;
  /** At most one for each document and encoding. */
  readonly bodies: Map<string, Promise<Uint8Array>>;
}

let served: ServedDocuments = { for: "", bodies: new Map() };

/** Returns a document of this relay, compressed once, because a process has one address and one name. */
async function documentBody(
  name: ReferenceName,
  encoding: Encoding,
  config: Pick<Config, "publicBaseUrl" | "service">,
): Promise<Uint8Array> {
  const { publicBaseUrl, service } = config;
  const key = JSON.stringify([publicBaseUrl, service.name]);
  if (served.for !== key) served = { for: key, bodies: new Map() };
  const { bodies } = served;
  const known = bodies.get(`${name} ${encoding}`);
  if (known !== undefined) return known;
  const write = WRITTEN[name];
  const text = readTexts()
    .documents[name].replaceAll(BASE_URL_PLACE, () => write(publicBaseUrl))
    .replaceAll(SERVICE_NAME_PLACE, () => write(service.name ?? NAMELESS));
  const made = compressed[encoding](Buffer.from(text));
  bodies.set(`${name} ${encoding}`, made);
  return made;
}

/**
 * Answers a document of the reference. Only these answers are compressed, because they contain nothing of a customer.
 * The length of other compressed answers could reveal tokens in them.
 */
export async function serveReference(
  name: ReferenceName,
  { config, headers }: { readonly config: Config; readonly headers: Headers },
): Promise<Reply> {
  const encoding = encodingFor(headers.get("accept-encoding"));
  const bytes = await documentBody(name, encoding, config);
  return new Reply({
    headers: [
      ["content-type", TYPES[name]],
      ["vary", "Accept-Encoding"],
      ...(encoding === "identity" ? [] : [["content-encoding", encoding] as const]),
      ...(name === "docs" ? pageHeaders() : []),
    ],
    body: encoding === "identity" ? Buffer.from(bytes).toString() : bytes,
  });
}
