/** Returns the value of a cookie in a request's `Cookie` header. */
export function cookieOf(header: string | null, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith("https:");

/** Returns the name of a cookie of ours. Another host of the same site can't set a `__Host-` cookie, which needs https. */
export const ownCookieName = (publicBaseUrl: string, name: string): string =>
  isSecure(publicBaseUrl) ? `__Host-${name}` : name;

/** Returns the header that sets a cookie of ours. Scripts can't read it. */
export function ownCookie(
  publicBaseUrl: string,
  name: string,
  value: string,
  more: string,
): readonly [string, string] {
  const secure = isSecure(publicBaseUrl) ? "; Secure" : "";
  const cookie = `${ownCookieName(publicBaseUrl, name)}=${value}; Path=/; HttpOnly; ${more}${secure}`;
  return ["set-cookie", cookie];
}
