const NAME_CHARACTERS_MAX = 255;
const HEADER_CHARACTERS_MAX = 4_096;

/** Decodes text that came as Latin-1, as headers do, if it is UTF-8, which many servers send. */
function asUtf8(latin1: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(latin1, "latin1"));
  } catch {
    return latin1;
  }
}

/** Decodes the extended form of a parameter (RFC 8187): `UTF-8''Quartal%20Q3`. Undefined when it isn't in that form. */
function extended(value: string): string | undefined {
  const [charset = "", , ...rest] = value.split("'");
  const bytes = Buffer.from(
    rest
      .join("'")
      .replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    "latin1",
  );
  if (rest.length === 0) return undefined;
  return charset.toLowerCase() === "utf-8" ? bytes.toString("utf8") : bytes.toString("latin1");
}

/** Yields the parameters of a header. A quoted value may contain semicolons. */
function* headerParameters(header: string): Generator<readonly [name: string, value: string]> {
  let at = header.indexOf(";");
  while (at >= 0) {
    const equals = header.indexOf("=", at);
    if (equals < 0) return;
    const name = header
      .slice(at + 1, equals)
      .trim()
      .toLowerCase();
    let end = equals + 1;
    while (header[end] === " ") end += 1;
    if (header[end] === '"') {
      let value = "";
      for (end += 1; end < header.length && header[end] !== '"'; end += 1) {
        if (header[end] === "\\") end += 1;
        value += header[end] ?? "";
      }
      yield [name, value];
      at = header.indexOf(";", end);
    } else {
      at = header.indexOf(";", end);
      yield [name, header.slice(end, at < 0 ? undefined : at).trim()];
    }
  }
}

/**
 * Returns what a server calls a file (RFC 6266), without folders, or undefined. The extended form counts before the
 * plain one, which is for old programs, wherever in the header it is.
 */
export function fileNameOf(disposition: string | undefined): string | undefined {
  const parameters = new Map(headerParameters((disposition ?? "").slice(0, HEADER_CHARACTERS_MAX)));
  const plain = parameters.get("filename");
  const name =
    extended(parameters.get("filename*") ?? "") ?? (plain === undefined ? "" : asUtf8(plain));
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/\p{Cc}/gu, " ").trim();
  return clean === "" ? undefined : clean.slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}
