import { describe, expect, test } from "vitest";
import { RouteTable } from "../../dev/host/http-routing.ts";
import { decodePath, encodePath } from "../../dev/host/request-path.ts";

function table(
  routes: Record<string, string>,
  methods: string[] | undefined = ["GET"],
): RouteTable {
  return new RouteTable(
    Object.entries(routes).map(([name, route]) => ({ name, route, methods })),
    "api",
  );
}

describe("a route template", () => {
  test.each([
    ["things", "/api/things", {}],
    ["things", "/API/Things/", {}],
    ["things", "/api/things/x", undefined],
    ["things", "/api//things", undefined],
    ["things/{id}", "/api/things/a b", { id: "a b" }],
    ["things/{id}", "/api/things", undefined],
    ["things/{id}", "/api/things/a/b", undefined],
    ["things/{id?}", "/api/things", {}],
    ["things/{id?}", "/api/things/1", { id: "1" }],
    ["things/{id=5}", "/api/things", { id: "5" }],
    ["things/{id:int=5}", "/api/things/x", undefined],
    ["{*rest}", "/api", {}],
    ["{*rest}", "/api/a/b/", { rest: "a/b/" }],
    ["{*rest}", "/api/a//b", { rest: "a//b" }],
    ["{*rest}", "/api//a", undefined],
    ["{**rest}", "/api/a/b", { rest: "a/b" }],
    ["{a}/{b}", "/api/1/2", { a: "1", b: "2" }],
    ["{file}.{extension}", "/api/a.b.txt", { file: "a.b", extension: "txt" }],
    ["{file}.{extension?}", "/api/a", { file: "a" }],
    ["{file}.{extension?}", "/api/a.txt", { file: "a", extension: "txt" }],
    ["v{major}-x", "/api/v12-x", { major: "12" }],
    ["v{major}-x", "/api/v-x", undefined],
    ["{{literal}}", "/api/{literal}", {}],
  ])("%s and the path %s give %j", (route, path, values) => {
    expect(table({ f: route }).match("GET", path)?.values).toEqual(values);
  });

  test.each([
    ["int", ["0", "-5", "2147483647"], ["x", "2147483648", "1.5", "1e3"]],
    ["long", ["9223372036854775807"], ["9223372036854775808", "x"]],
    ["bool", ["true", "FALSE"], ["yes", "1"]],
    ["alpha", ["abC"], ["a1", "ä"]],
    [
      "guid",
      ["0af76519-16cd-43dd-8448-eb211c80319c", "0AF7651916CD43DD8448EB211C80319C"],
      ["0af7651916cd-43dd8448-eb211c80319c", "x"],
    ],
    ["decimal", ["1.5", "-2"], ["x", "1,5"]],
    ["datetime", ["2024-05-05"], ["soon"]],
    ["length(3)", ["abc"], ["ab", "abcd"]],
    ["length(2,3)", ["ab", "abc"], ["a", "abcd"]],
    ["minlength(2)", ["ab"], ["a"]],
    ["maxlength(2)", ["ab"], ["abc"]],
    ["min(10)", ["10", "11"], ["9", "x"]],
    ["max(10)", ["10", "-1"], ["11", "x"]],
    ["range(1,3)", ["1", "3"], ["0", "4"]],
    ["regex(^p_[a-z]{{2}}$)", ["p_ab", "P_AB"], ["p_abc", "xp_ab"]],
    ["regex(^(a:b|c)$)", ["a:b", "c"], ["a"]],
    ["alpha:length(2)", ["ab"], ["abc", "a1"]],
  ])("with the constraint %s lets %j through and not %j", (constraint, good, bad) => {
    const routes = table({ f: `{value:${constraint}}` });
    for (const value of good)
      expect(routes.match("GET", `/api/${value}`)?.values).toEqual({ value });
    for (const value of bad) expect(routes.match("GET", `/api/${value}`)).toBeUndefined();
  });

  test.each([
    ["{", "is not valid"],
    ["a//b", "is not valid"],
    ["{id}/{ID}", "appears twice"],
    ["{*rest}/x", "must be the last"],
    ["{a}{b}", "need a literal between"],
    ["x{a?}", "needs a segment of its own"],
    ["{id:even}", 'no route constraint "even"'],
    ["{id:length(x)}", '"length(x)" is not valid'],
    ["admin/things", "conflicts with the host's own routes"],
    ["Administrators", "conflicts with the host's own routes"],
    ["runtime/things", "conflicts with the host's own routes"],
  ])("%s is refused when the host starts", (route, message) => {
    expect(() => table({ f: route })).toThrow(message);
  });
});

describe("of several routes that fit", () => {
  test("the one whose function has the first name is taken, literal or not", () => {
    const routes = table({ zoo: "items/recent", animal: "items/{id}", _last: "items/{*rest}" });
    expect(routes.match("GET", "/api/items/recent")?.functionName).toBe("animal");
    expect(routes.match("GET", "/api/items/a/b")?.functionName).toBe("_last");
  });

  test("one whose method or constraint does not fit is passed over", () => {
    const routes = new RouteTable(
      [
        { name: "a", route: "items/{id:int}", methods: ["GET"] },
        { name: "b", route: "items/{id}", methods: ["GET", "DELETE"] },
        { name: "c", route: "items/{id}", methods: ["post"] },
        { name: "d", route: "{*rest}", methods: undefined },
        { name: "e", route: undefined, methods: ["GET"] },
      ],
      "",
    );
    const name = (method: string, path: string): string | undefined =>
      routes.match(method, path)?.functionName;
    expect(name("GET", "/items/5")).toBe("a");
    expect(name("GET", "/items/five")).toBe("b");
    expect(name("DELETE", "/items/5")).toBe("b");
    expect(name("POST", "/items/5")).toBe("c");
    expect(name("PATCH", "/items/5")).toBe("d");
  });

  test("one that can never be reached is reported, and only such a one", () => {
    expect(table({ "a-any": "items/{id}", "b-recent": "items/recent" }).hidden()).toEqual([
      expect.stringContaining('"b-recent" ([GET] api/items/recent) can never run: "a-any"'),
    ]);
    expect(table({ a: "{*rest}", b: "items/{id}", c: "items" }).hidden()).toHaveLength(2);
    expect(table({ a: "items/{id?}", b: "items" }).hidden()).toHaveLength(1);
    expect(table({ "a-recent": "items/recent", "b-any": "items/{id}" }).hidden()).toEqual([]);
    expect(table({ a: "items/{id:int}", b: "items/recent" }).hidden()).toEqual([]);
    expect(table({ a: "items/{id}", b: "items/{id?}", c: "items/{id}/x" }).hidden()).toEqual([]);
    const otherMethod = new RouteTable(
      [
        { name: "a", route: "items/{id}", methods: ["GET"] },
        { name: "b", route: "items/recent", methods: ["GET", "POST"] },
      ],
      "api",
    );
    expect(otherMethod.hidden()).toEqual([]);
  });

  test("two with one path and a common method are refused", () => {
    expect(() => table({ a: "items/{id}", b: "Items/{id}" })).toThrow(
      'function "b": the route "api/Items/{id}" conflicts with the route of function "a"',
    );
  });
});

describe("a request's path", () => {
  test.each([
    ["/a%20b/%C3%A4", "/a b/ä"],
    ["/a%2Fb%2fc", "/a%2Fb%2fc"],
    ["/a/./b/../c", "/a/c"],
    ["/a/%2e%2e/c", "/c"],
    ["/../../c", "/c"],
    ["/a/..", "/"],
    ["/%FF%zz", "/%FF%zz"],
    ["/a+b", "/a+b"],
    ["/%00", undefined],
  ])("%s is routed as %s", (path, decoded) => {
    expect(decodePath(path)).toBe(decoded);
  });

  test.each([
    ["/a b/ä", "/a%20b/%C3%A4"],
    ["/a%2Fb", "/a%2Fb"],
    ["/100%", "/100%25"],
    ["/a+b:c@d", "/a+b:c@d"],
    ['/"<>', "/%22%3C%3E"],
  ])("%s is shown to the function as %s", (path, encoded) => {
    expect(encodePath(path)).toBe(encoded);
  });
});
