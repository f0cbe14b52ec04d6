import { describe, expect, test } from "vitest";
import { RouteTable } from "../../../tools/host/http-routing.ts";
import { decodePath, encodePath } from "../../../tools/host/request-path.ts";
import { routeKeys } from "../../../src/functions/manifest.ts";
import { functionName } from "../../../src/shared/host/register.ts";
import { methodsOf } from "../../../src/shared/http/route.ts";

function table(
  routes: Record<string, string>,
  onLeftOut = (name: string, reason: string): void => {
    throw new Error(`${name} was left out: ${reason}`);
  },
): RouteTable {
  return new RouteTable(
    Object.entries(routes).map(([name, route]) => ({ name, route, methods: ["GET"] })),
    "api",
    onLeftOut,
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
    ["{*rest}", "/api", {}],
    ["{*rest}", "/api/a/b/", { rest: "a/b/" }],
    ["{*rest}", "/api/a//b", { rest: "a//b" }],
    ["{*rest}", "/api//a", undefined],
    ["{a}/{b}", "/api/1/2", { a: "1", b: "2" }],
  ])("%s and the path %s give %j", (route, path, values) => {
    expect(table({ f: route }).match("GET", path)?.values).toEqual(values);
  });

  test.each([
    ["{", "no route segment"],
    ["a//b", "no route segment"],
    ["{id:int}", "no route segment"],
  ])("%s is refused when the host starts", (route, message) => {
    expect(() => table({ f: route })).toThrow(message);
  });

  test.each([
    ["{*rest}/x", "must be the last"],
    ["admin/things", "conflicts with the host's own routes"],
    ["Administrators", "conflicts with the host's own routes"],
    ["runtime/things", "conflicts with the host's own routes"],
  ])("%s is left out, and the others serve", (route, message) => {
    const leftOut: string[] = [];
    const routes = table({ f: route, g: "things" }, (name, reason) => leftOut.push(name, reason));
    expect(leftOut).toEqual(["f", expect.stringContaining(message)]);
    expect(routes.match("GET", "/api/things")?.functionName).toBe("g");
  });
});

describe("of several routes that fit", () => {
  test("the one whose function has the first name is taken, literal or not", () => {
    const routes = table({ zoo: "items/recent", animal: "items/{id}", _last: "items/{*rest}" });
    expect(routes.match("GET", "/api/items/recent")?.functionName).toBe("animal");
    expect(routes.match("GET", "/api/items/1/2")?.functionName).toBe("_last");
    expect(routes.match("PATCH", "/api/items/1")).toBeUndefined();
  });

  test("every route of the app is reached by its own path", () => {
    const functions = routeKeys.map((key) => ({
      name: functionName(key),
      route: key.path,
      methods: methodsOf(key),
    }));
    const leftOut: string[] = [];
    const routes = new RouteTable(functions, "api", (name) => leftOut.push(name));
    expect(leftOut).toEqual([]);
    for (const { name, route, methods } of functions)
      for (const method of methods) {
        const path = `/api/${route.replaceAll(/\{\w+\}/g, "x")}`;
        expect(routes.match(method, path)?.functionName, `${method} ${path}`).toBe(name);
      }
  });

  test("of two with one path and a common method the later is left out", () => {
    const leftOut: string[] = [];
    const routes = table({ b: "items/{id}", a: "Items/{id}" }, (name, reason) =>
      leftOut.push(name, reason),
    );
    expect(leftOut).toEqual([
      "a",
      'the route "api/Items/{id}" conflicts with the route of function "b"',
    ]);
    expect(routes.match("GET", "/api/items/1")?.functionName).toBe("b");
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
