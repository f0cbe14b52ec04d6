import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { aPublisher } from "../setup/publisher.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const publisher = forFile(() => aPublisher(relay, []));

const BODY = JSON.stringify({ text: "Fresh bread", platforms: ["bluesky"] });

const validate = (coding: string, rawBody: string | Uint8Array = BODY) =>
  relay.call("POST", "/v1/posts/validate", {
    key: publisher.key,
    headers: {
      ...publisher.headers,
      "content-type": "application/json",
      "content-encoding": coding,
    },
    rawBody,
  });

describe("a body with a Content-Encoding is refused, and the answer says what is accepted", () => {
  test.each([
    ["gzip", gzipSync(BODY)],
    ["deflate", deflateSync(BODY)],
    ["gzip", BODY],
    ["GZIP", BODY],
    ["br", BODY],
    ["identity, gzip", BODY],
    ["gzip,identity", BODY],
    ["aws-chunked", BODY],
    ["gzip", ""],
  ])("a body with a Content-Encoding is refused: %s", async (coding, body) => {
    const { status, headers, body: answered } = await validate(coding, body);
    expect([status, answered.error.code]).toEqual([415, "unsupported_media_type"]);
    expect(answered.error.message).toContain("uncompressed");
    expect(headers.get("accept-encoding")).toBe("identity");
  });

  test.each(["identity", "Identity", "identity,identity", ""])(
    "the Content-Encoding %j is accepted",
    async (coding) => {
      expect((await validate(coding)).status).toBe(200);
    },
  );

  test("a form of the hosted page with a Content-Encoding is refused too", async () => {
    const answer = await relay.call("POST", "/v1/connect/ui/done", {
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "content-encoding": "gzip",
      },
      rawBody: gzipSync("session=a&token=b"),
    });
    expect(answer.status).toBe(415);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("accept-encoding")).toBe("identity");
  });

  const open = routes.filter(
    ({ spec }) => spec.body !== undefined && spec.access.contract.credentials.length === 0,
  );
  test.each(open.map(({ path }) => path))(
    "a Content-Encoding is refused on the public route %s",
    async (path) => {
      const answer = await relay.call("POST", `/${path.replace("{network}", "bluesky")}`, {
        headers: { "content-encoding": "gzip" },
        rawBody: "{}",
      });
      expect(answer.status).toBe(415);
    },
  );

  test("a body of another type has no Accept-Encoding in its answer", async () => {
    const answer = await relay.call("POST", "/v1/auth/login", {
      headers: { "content-type": "text/plain" },
      rawBody: "{}",
    });
    expect([answer.status, answer.headers.has("accept-encoding")]).toEqual([415, false]);
  });
});
