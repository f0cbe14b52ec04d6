import { describe, expect, test } from "vitest";
import {
  DEMO_PAGE,
  DEMO_USER,
  FRIEND_USER,
  PORTFOLIO_PAGE,
  SECOND_PAGE,
} from "../../dev/networks/facebook/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { publishedBy, walkLeg } from "./sandbox-leg.ts";
import type { SandboxTools } from "./sandbox-leg.ts";
import { file } from "./use-sandbox-tools.ts";
import { accountOf, usePages } from "./sandbox-pages.ts";

let sandbox: Sandbox;
let tools: SandboxTools;

const { shown, authorize, linkPage } = usePages((fresh) => {
  ({ sandbox, tools } = fresh);
});

describe("linking a Facebook page in the sandbox", () => {
  test("offers the pages that may be published for, those of a business portfolio too", async () => {
    const choice = await authorize();
    expect(choice).toMatchObject({
      kind: "choose",
      candidates: [
        { id: DEMO_PAGE, label: "Demo Bakery", hint: "@demobakery" },
        { id: SECOND_PAGE },
        { id: PORTFOLIO_PAGE },
      ],
    });
  });

  test("links the page that was chosen, with its own token", async () => {
    const { account, scopes, expiresAt, grantId } = await linkPage(SECOND_PAGE);
    expect(account).toMatchObject({
      id: SECOND_PAGE,
      username: "democoffeebar",
      displayName: "Demo Coffee Bar",
      url: "https://www.facebook.com/democoffeebar",
      kind: "page",
    });
    expect(scopes).toContain("pages_manage_posts");
    expect([expiresAt, grantId]).toEqual([null, DEMO_USER]);
  });

  test("finds a portfolio's page even when the right to see the portfolio was declined", async () => {
    const ticked = {
      asked: "yes",
      account: DEMO_USER,
      [`page_${PORTFOLIO_PAGE}`]: "yes",
      may_pages_show_list: "yes",
      may_pages_read_engagement: "yes",
      may_pages_manage_posts: "yes",
    };
    expect(accountOf(await authorize(ticked)).account.id).toBe(PORTFOLIO_PAGE);
  });

  test.each([
    ["the person says no", { decision: "deny" }, "access_denied"],
    ["there is no page", { account: FRIEND_USER }, "nothing_to_choose"],
    [
      "a permission was declined",
      {
        asked: "yes",
        account: DEMO_USER,
        [`page_${DEMO_PAGE}`]: "yes",
        may_pages_show_list: "yes",
        may_pages_read_engagement: "yes",
      },
      "permission_missing",
    ],
  ])("links nothing when %s", async (_what, form, code) => {
    expect(await authorize(form)).toMatchObject({ kind: "failed", code });
  });

  test("works for an app that demands proof of its secret", async () => {
    sandbox.networks.facebook.requireProof(true);
    const walk = await walkLeg(
      facebook,
      await linkPage(),
      { text: "Proof", media: [file("photo.jpg"), file("photo-2.jpg")] },
      tools,
    );
    publishedBy(walk);
    expect(shown()).toHaveLength(1);
  });

  test("takes back what was allowed", async () => {
    const linked = await linkPage();
    await facebook.revoke(linked.credentials, null, tools);
    const walk = await walkLeg(facebook, linked, { text: "Hello" }, tools);
    expect(walk.outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});
