import { expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { parseInput } from "../../src/shared/http/parse-input.ts";
import type { Route } from "../../src/shared/http/route.ts";
import { AppError } from "../../src/shared/runtime/errors.ts";
import { aPublisher } from "../setup/publisher.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const publisher = forFile(() => aPublisher(relay, []));

/** Browsers, networks, mail programs and probes open these, and add parameters of their own. */
const OPENED_BY_OTHERS = [
  "GET v1/connect/ui",
  "GET v1/connect/callback/",
  "GET v1/connect/bluesky/",
  "GET v1/connect/facebook/deletion/",
  "GET v1/connect/instagram/deletion/",
  "GET v1/connect/meta/deletion/",
  "GET v1/auth/ui/",
  "GET v1/auth/notices/off",
  "GET v1/media/public/",
  "GET docs",
  "GET health",
  "GET ready",
  "GET llms.txt",
  "POST v1/connect/ui/",
  "POST v1/connect/meta/",
  "POST v1/connect/facebook/",
  "POST v1/connect/instagram/",
  "POST v1/auth/ui/",
  "POST v1/auth/notices/off",
];
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** What the route says of a parameter that it doesn't have, after its access rule. */
async function saidOfPage(route: Route): Promise<readonly unknown[]> {
  const incoming = {
    method: route.method,
    url: new URL("https://relay.example/?page=2"),
    headers: new Headers({ "content-type": "application/json" }),
    params: {},
    body: async () => new Uint8Array(),
  };
  try {
    await parseInput(route, incoming, { services: relay.services, scope: undefined, params: {} });
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.details["issues"] as { path: string; code: string; message: string }[];
    return issues.filter(({ path }) => path === "page").map(({ code, message }) => [code, message]);
  }
}

const isOpenedByOthers = (route: Route) =>
  OPENED_BY_OTHERS.some((beginning) => nameOf(route).startsWith(beginning));

test("each route that programs call refuses a query parameter that it doesn't have, and says which it has", async () => {
  const called = routes.filter((route) => !isOpenedByOthers(route));
  expect(called.length).toBeGreaterThan(80);
  for (const route of called)
    expect([nameOf(route), await saidOfPage(route)]).toEqual([
      nameOf(route),
      [
        [
          "unknown_field",
          expect.stringMatching(
            /^"page" is not a known query parameter(?:, and there are none: leave it out\.|\. Pages have no numbers: send `page\.nextCursor` of the page before as "cursor"\.|\. (?:Did you mean "\w+"\? )?The (?:only one is|query parameters are) ".*"\.)$/,
          ),
        ],
      ],
    ]);
});

test("each route that browsers and networks open leaves parameters of others alone", async () => {
  const opened = routes.filter(isOpenedByOthers);
  expect(opened.length).toBeGreaterThan(14);
  for (const route of opened.filter(({ spec }) => spec.body === undefined))
    expect([nameOf(route), await saidOfPage(route)]).toEqual([nameOf(route), []]);
});

test.each([
  ["GET", "/v1/me"],
  ["GET", "/v1/rate-card"],
  ["GET", "/v1/networks"],
  ["POST", "/v1/profiles"],
])("%s %s?page=2 is refused", async (method, path) => {
  const body = method === "POST" ? { title: "x" } : undefined;
  const answer = await publisher.call(method, `${path}?page=2`, body === undefined ? {} : { body });
  expect(answer).toMatchObject({
    status: 400,
    body: {
      error: {
        code: "validation_failed",
        details: {
          issues: [
            {
              path: "page",
              message: '"page" is not a known query parameter, and there are none: leave it out.',
            },
          ],
        },
      },
    },
  });
});
