const ENCODED_RUN = /(?:%[0-9a-f]{2})+/gi;
const ENCODED_SLASH = /(%2f)/i;

/** What a path may hold unescaped: RFC 3986's pchar and the slash. A percent sign is dealt with on its own. */
const TO_ESCAPE = /%(?![0-9a-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/giu;

/**
 * The path as the host's web server sees it before routing: decoded, `.` and `..` gone. `%2F` stays as it is, so that it
 * can't turn into a separator, and so does what is not UTF-8. Undefined for a path that the server answers with 400.
 */
export function decodePath(rawPath: string): string | undefined {
  const decoded = rawPath.replaceAll(ENCODED_RUN, (run) =>
    run
      .split(ENCODED_SLASH)
      .map((part) => (ENCODED_SLASH.test(part) ? part : decodeOrKeep(part)))
      .join(""),
  );
  return decoded.includes("\0") ? undefined : withoutDotSegments(decoded);
}

/** The path as a function sees it in its URL: encoded again, in one way only. */
export function encodePath(path: string): string {
  return path.replaceAll(TO_ESCAPE, (text) => (text === "%" ? "%25" : encodeURIComponent(text)));
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutDotSegments(path: string): string {
  const segments = path.split("/");
  const kept: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
    if (last && (segment === "." || segment === "..")) kept.push("");
  }
  const joined = kept.join("/");
  return joined.startsWith("/") ? joined : `/${joined}`;
}
