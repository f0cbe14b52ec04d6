import { expect, test } from "vitest";
import { dataOf } from "../setup/factories.ts";
import { forFile } from "../setup/for-file.ts";
import { aPublisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay, ["bluesky"]));

const WORDS = "write %2B for a plus sign, which a query reads as a space";

const issuesOf = ({ body }: { readonly body: { readonly error: { readonly details: object } } }) =>
  (body.error.details as { issues: { path: string; message: string }[] }).issues;

test("an email with an unencoded plus sign is refused with what to write, and found with %2B", async () => {
  const operator = ["Admin"];
  const path = "/v1/admin/users?email=ada";
  const refused = await relay.call("GET", `${path}+1@example.com`, { operator });
  expect(refused.status).toBe(400);
  expect(issuesOf(refused)).toMatchObject([
    { path: "email", message: expect.stringContaining(WORDS) },
  ]);
  const asked = await relay.call("GET", `${path}%2B1@example.com`, { operator });
  expect([asked.status, asked.body.data]).toEqual([200, []]);
});

test.each(["/v1/profiles", "/v1/posts"])(
  "%s finds references with a space, and refuses one that matches nothing",
  async (path) => {
    const make = (externalId: string) =>
      path === "/v1/posts"
        ? publisher.submit({ text: `About ${externalId}`, platforms: ["bluesky"], externalId })
        : publisher.call("POST", path, { body: { title: externalId, externalId } });
    for (const externalId of ["order 42", "ada+tag@example.com"])
      expect((await make(externalId)).status).toBeLessThan(300);
    const list = (query: string) => publisher.call("GET", `${path}?externalId=${query}`);
    expect(dataOf(await list("order+42"))).toHaveLength(1);
    expect(dataOf(await list("ada%2Btag@example.com"))).toHaveLength(1);
    const refused = await list("ada+tag@example.com");
    expect(refused.status).toBe(400);
    expect(issuesOf(refused)).toMatchObject([
      { path: "externalId", message: expect.stringContaining(WORDS) },
    ]);
    expect(dataOf(await list("nothing"))).toEqual([]);
  },
);
