import { expect, test } from "vitest";
import { makeRepresentable, type RawRequest } from "../../src/shared/http/raw-request.ts";

/** What the functions library does with a request first of all. */
function represented({ url, headers, nullableHeaders }: RawRequest): Request {
  const values = Object.entries(nullableHeaders ?? {}).map(
    ([name, { value }]): [string, string] => [name, value ?? ""],
  );
  return new Request(url ?? "", { headers: headers ?? Object.fromEntries(values) });
}

test.each([
  ["plain", "x-campaign", "launch", "launch"],
  ["Latin-1", "x-campaign", "B\u00fcro", "B\u00fcro"],
  ["beyond Latin-1", "x-campaign", "B\u00fcro-\u20ac", "B\u00c3\u00bcro-\u00e2\u0082\u00ac"],
  ["an emoji", "x-campaign", "\u{1f389} launch", "\u00f0\u009f\u008e\u0089 launch"],
  ["half of a pair", "x-campaign", "\ud83c", "\u00ef\u00bf\u00bd"],
  ["line breaks and NUL", "x-campaign", "a\r\nb\0c", "a  b c"],
  ["no name", "", "x", null],
  ["a name with a bracket", "x[0]", "x", null],
  ["a name with a space", "x y", "x", null],
  ["a name beyond Latin-1", "x-\u20ac", "x", null],
])("a request with %s in a header can be represented", (_what, name, value, wanted) => {
  const url = "https://relay.test/api/health";
  for (const request of [
    { url, nullableHeaders: { accept: { value: "*/*" }, [name]: { value } } },
    { url, headers: { accept: "*/*", [name]: value } },
  ]) {
    makeRepresentable(request);
    const { headers } = represented(request);
    expect(headers.get("accept")).toBe("*/*");
    if (wanted === null) expect([...headers.keys()]).toEqual(["accept"]);
    else expect(headers.get(name)).toBe(wanted);
  }
});

test.each([
  ["https://relay.test/api/v1/posts?limit=1#x", "https://relay.test/api/v1/posts?limit=1#x"],
  ["https,http://relay.test/api/v1/posts?a=//b/c", "http://localhost/api/v1/posts?a=//b/c"],
  ["https://a b/api/v1/posts", "http://localhost/api/v1/posts"],
  ["https://user:word@relay.test/api", "http://localhost/api"],
  ["https://", "http://localhost/"],
])("the address %s can be represented", (url, wanted) => {
  const request = { url };
  makeRepresentable(request);
  expect(represented(request).url).toBe(wanted);
});
