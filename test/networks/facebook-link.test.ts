import { describe, expect, test } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { isStorable } from "../../src/shared/networks/contract/bounded.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { type Script, answer, htmlPage, lost } from "./scripted-tools.ts";
import { GRAPH, credentials, error, proof, tools } from "./facebook-script.ts";

describe("linking a Facebook page", () => {
  const { link } = facebook;
  const redirectUri = "https://relay.example/v1/connect/callback/facebook";
  const TOKEN = `GET ${GRAPH}/oauth/access_token`;
  const PERMISSIONS = `GET ${GRAPH}/me/permissions`;
  const ME = `GET ${GRAPH}/me`;
  const ACCOUNTS = `GET ${GRAPH}/me/accounts`;
  const DEBUG = `GET ${GRAPH}/debug_token`;
  const BUSINESSES = `GET ${GRAPH}/me/businesses`;
  const granted = (...names: readonly string[]) =>
    answer(200, { data: names.map((permission) => ({ permission, status: "granted" })) });
  const page = (id: string, overrides: Record<string, unknown> = {}) => ({
    id,
    name: `Page ${id}`,
    username: `page${id}`,
    tasks: ["ANALYZE", "CREATE_CONTENT"],
    access_token: `token-${id}`,
    picture: { data: { url: `https://img.example/${id}.jpg` } },
    ...overrides,
  });
  const script = (overrides: Script["http"] = {}): Script => ({
    http: {
      [TOKEN]: [
        answer(200, { access_token: "short", token_type: "bearer", expires_in: 5000 }),
        answer(200, { access_token: "long", token_type: "bearer" }),
      ],
      [PERMISSIONS]: granted(
        "pages_show_list",
        "pages_read_engagement",
        "pages_manage_posts",
        "business_management",
      ),
      [ME]: answer(200, { id: "7" }),
      [ACCOUNTS]: answer(200, { data: [page("1")] }),
      [DEBUG]: answer(200, { data: { is_valid: true, granular_scopes: [] } }),
      [BUSINESSES]: answer(200, { data: [] }),
      ...overrides,
    },
  });
  const finish = async (
    overrides: Script["http"] = {},
    params: Record<string, string> = { code: "code-1#_=_", state: "s" },
  ) => {
    const used = tools(script(overrides));
    const callback = { params, codeVerifier: "v", redirectUri, flow: {} };
    return { outcome: await link.finish(callback, used), used };
  };

  test("asks at the dialog for what publishing needs, and again for what was declined", async () => {
    const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
    const started = await link.start({}, oauth, tools());
    if (started.kind === "failed") throw new Error(started.code);
    const url = new URL(started.url);
    expect(url.origin + url.pathname).toBe("https://www.facebook.com/v26.0/dialog/oauth");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "app-1",
      redirect_uri: redirectUri,
      response_type: "code",
      state: "state-1",
      scope: "pages_show_list,pages_read_engagement,pages_manage_posts,business_management",
      auth_type: "rerequest",
    });
  });

  test("makes a long-lived token of the code, and links the one page that there is", async () => {
    const { outcome, used } = await finish();
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "1",
          username: "page1",
          displayName: "Page 1",
          avatarUrl: "https://img.example/1.jpg",
          url: "https://www.facebook.com/page1",
          kind: "page",
        },
        credentials: { userId: "7", userToken: "long", pageId: "1", pageToken: "token-1" },
        instanceUrl: null,
        scopes: [
          "pages_show_list",
          "pages_read_engagement",
          "pages_manage_posts",
          "business_management",
        ],
        limits: {},
        expiresAt: null,
        grantId: "7",
      },
    });
    const [first, second] = used.calls.map(({ url }) => new URL(url).searchParams);
    expect(Object.fromEntries(first ?? [])).toEqual({
      client_id: "app-1",
      client_secret: "secret-1",
      code: "code-1",
      redirect_uri: redirectUri,
    });
    expect(Object.fromEntries(second ?? [])).toMatchObject({
      grant_type: "fb_exchange_token",
      fb_exchange_token: "short",
    });
    const listing = used.calls[used.asked.indexOf(ACCOUNTS)];
    expect(listing?.headers?.["authorization"]).toBe("Bearer long");
    expect(new URL(listing?.url ?? "").searchParams.get("appsecret_proof")).toBe(proof("long"));
    expect(listing?.url).not.toContain("access_token=");
  });

  test("offers the pages of a person who has very many", async () => {
    const [TOKEN_LENGTH, ADDRESS_LENGTH] = [230, 450];
    const pages = (from: number) =>
      Array.from({ length: 100 }, (_, index) =>
        page(`${from + index}`, {
          access_token: "t".repeat(TOKEN_LENGTH),
          picture: { data: { url: `https://img.example/${"p".repeat(ADDRESS_LENGTH)}` } },
        }),
      );
    const replies = (lists: readonly (readonly unknown[])[]) => {
      const cursors = (index: number) => ({
        paging: { next: "x", cursors: { after: `${index}` } },
      });
      const last = lists.length - 1;
      return lists.map((data, index) =>
        answer(200, { data, ...(index < last ? cursors(index) : {}) }),
      );
    };
    const offered = async (lists: readonly (readonly unknown[])[]) => {
      const { outcome } = await finish({ [ACCOUNTS]: replies(lists) });
      if (outcome.kind !== "choose") throw new Error(`nothing offered: ${JSON.stringify(outcome)}`);
      expect(isStorable(outcome.flow)).toBe(true);
      return [outcome.candidates.length, outcome.isCut === true];
    };
    const lists = [1_000, 2_000, 3_000, 4_000].map(pages);
    expect(await offered(lists)).toEqual([400, false]);
    const heavy = pages(1_000).map((one) => ({ ...one, name: "n".repeat(5_000) }));
    expect(await offered([heavy])).toEqual([19, true]);
    const { outcome } = await finish({ [ACCOUNTS]: replies(lists) });
    if (outcome.kind !== "choose") throw new Error("nothing offered");
    const used = tools({ http: { [`GET ${GRAPH}/2001`]: answer(200, page("2001")) } });
    expect(await link.choose("2001", outcome.flow, used)).toMatchObject({
      kind: "linked",
      linked: { credentials: { pageId: "2001", pageToken: "token-2001" } },
    });
  });

  test("asks for smaller pages where Facebook can't answer so many, on any page", async () => {
    const reduce = answer(500, {
      error: {
        code: 1,
        message: "Please reduce the amount of data you're asking for, then retry your request",
      },
    });
    const used = tools(
      script({
        [ACCOUNTS]: [
          answer(200, {
            data: [page("1")],
            paging: { next: "x", cursors: { after: "A" } },
          }),
          reduce,
          answer(200, { data: [page("2")] }),
        ],
      }),
    );
    const callback = { params: { code: "c" }, codeVerifier: "v", redirectUri, flow: {} };
    expect(await link.finish(callback, used)).toMatchObject({
      candidates: [{ id: "1" }, { id: "2" }],
    });
    const asked = used.calls
      .filter(({ url }) => url.startsWith(ACCOUNTS.slice(4)))
      .map(({ url }) => new URL(url).searchParams)
      .map((query) => [query.get("limit"), query.get("after")]);
    expect(asked).toEqual([
      ["100", null],
      ["100", "A"],
      ["25", "A"],
    ]);
    expect((await finish({ [ACCOUNTS]: reduce })).outcome).toMatchObject({ kind: "failed" });
  });

  const ofPortfolio = {
    [BUSINESSES]: answer(200, { data: [{ id: "50" }] }),
    [`GET ${GRAPH}/50/owned_pages`]: answer(200, { data: [page("2"), page("3")] }),
    [`GET ${GRAPH}/50/client_pages`]: answer(200, { data: [] }),
  };

  test.each([
    ["a page of the plain list", page("1"), ["1", "2", "3"]],
    ["one that can't be published for", page("1", { tasks: ["ANALYZE"] }), ["2", "3", "1 barred"]],
  ])("offers the pages of a portfolio beside %s", async (_what, plain, ids) => {
    const http = { ...ofPortfolio, [ACCOUNTS]: answer(200, { data: [plain] }) };
    const { outcome } = await finish(http);
    const candidates = outcome.kind === "choose" ? outcome.candidates : [];
    const shown = candidates.map(({ id, isBarred }) => (isBarred === true ? `${id} barred` : id));
    expect(shown).toEqual(ids);
  });

  test("links the only page without a question only where there is certainly no other", async () => {
    const unknown = { [BUSINESSES]: error(100, 33) };
    expect((await finish(unknown)).outcome).toMatchObject({
      kind: "choose",
      candidates: [{ id: "1" }],
    });
    const selected = answer(200, {
      data: { granular_scopes: [{ scope: "pages_show_list", target_ids: ["1"] }] },
    });
    expect((await finish({ ...unknown, [DEBUG]: selected })).outcome).toMatchObject({
      kind: "linked",
    });
  });

  test("offers the pages of all lists, and shows those that may not be published for", async () => {
    const cursors = { paging: { next: "https://x.example", cursors: { after: "A" } } };
    const { outcome, used } = await finish({
      [ACCOUNTS]: [
        answer(200, { data: [page("1"), page("2", { tasks: ["ANALYZE"] })], ...cursors }),
        answer(200, { data: [page("3", { username: undefined }), { odd: true }] }),
      ],
      [DEBUG]: answer(200, {
        data: {
          granular_scopes: [
            { scope: "pages_manage_posts", target_ids: ["1", "4", "5"] },
            { scope: "business_management" },
          ],
        },
      }),
      [`GET ${GRAPH}/4`]: answer(200, page("4")),
      [`GET ${GRAPH}/5`]: error(100, 33),
    });
    expect(outcome).toMatchObject({
      kind: "choose",
      candidates: [
        { id: "1", label: "Page 1", hint: "@page1" },
        { id: "3", label: "Page 3", hint: "3" },
        { id: "4", label: "Page 4", hint: "@page4" },
        { id: "2", label: "Page 2", hint: "@page2", isBarred: true },
      ],
    });
    expect(used.calls.filter(({ url }) => url.includes("after=A"))).toHaveLength(1);
    if (outcome.kind !== "choose") return;
    expect(await link.choose("3", outcome.flow, tools())).toMatchObject({
      kind: "linked",
      linked: {
        account: { id: "3", url: "https://www.facebook.com/3" },
        credentials: { pageToken: "token-3" },
      },
    });
    const stored = JSON.parse(JSON.stringify(outcome.flow)) as NetworkData;
    expect(await link.choose("2", stored, tools())).toMatchObject({ kind: "failed" });
  });

  test.each([
    [["CREATE_CONTENT"], "linked"],
    [["MANAGE"], "linked"],
    [["PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_ANALYZE"], "linked"],
    [["PROFILE_PLUS_FULL_CONTROL"], "linked"],
    [["PROFILE_PLUS_ANALYZE", "PROFILE_PLUS_MESSAGING", "MODERATE"], "choose"],
    [[], "choose"],
  ])("a page with the tasks %s is %s", async (tasks, kind) => {
    const only = { [ACCOUNTS]: answer(200, { data: [page("1", { tasks })] }) };
    const { outcome } = await finish(only);
    expect(outcome).toMatchObject({ kind });
    if (outcome.kind === "choose") expect(outcome.candidates).toMatchObject([{ isBarred: true }]);
  });

  const none = { [ACCOUNTS]: answer(200, { data: [] }) };

  test.each<[string, Script["http"]]>([
    ["the person", { ...none, [ME]: answer(200, { id: "7", accounts: { data: [page("8")] } }) }],
    [
      "the token",
      {
        ...none,
        [DEBUG]: answer(200, {
          data: { granular_scopes: [{ scope: "pages_show_list", target_ids: ["8"] }] },
        }),
        [`GET ${GRAPH}/8`]: answer(200, page("8")),
      },
    ],
    [
      "the business portfolios",
      {
        ...none,
        [BUSINESSES]: answer(200, { data: [{ id: "50" }, { id: "51" }] }),
        [`GET ${GRAPH}/50/owned_pages`]: error(100, 33),
        [`GET ${GRAPH}/50/client_pages`]: answer(200, { data: [page("8", { tasks: undefined })] }),
        [`GET ${GRAPH}/51/owned_pages`]: answer(200, { data: [page("9", { access_token: "" })] }),
        [`GET ${GRAPH}/51/client_pages`]: lost,
      },
    ],
  ])("finds pages that the list leaves out through %s", async (what, http) => {
    const { outcome } = await finish(http);
    // Not all lists of the portfolios could be read.
    const isKnown = what !== "the business portfolios";
    expect(outcome).toMatchObject(
      isKnown
        ? { kind: "linked", linked: { account: { id: "8" } } }
        : { kind: "choose", candidates: [{ id: "8" }] },
    );
  });

  test.each<[string, Script["http"], string]>([
    ["there is no page", none, "nothing_to_choose"],
    [
      "a permission was declined",
      {
        [PERMISSIONS]: answer(200, {
          data: [
            { permission: "pages_show_list", status: "granted" },
            { permission: "pages_read_engagement", status: "granted" },
            { permission: "pages_manage_posts", status: "declined" },
          ],
        }),
      },
      "permission_missing",
    ],
    ["the code was used before", { [TOKEN]: error(100, 36009) }, "access_denied"],
    ["Facebook fails", { [TOKEN]: error(1) }, "network_unavailable"],
    [
      "the app's secret is wrong",
      { [TOKEN]: answer(400, { error: { code: 1, message: "Error validating client secret." } }) },
      "service_refused",
    ],
    [
      "the app's address is another",
      {
        [TOKEN]: answer(400, {
          error: {
            code: 100,
            message:
              "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request",
          },
        }),
      },
      "service_refused",
    ],
    ["Facebook is away", { [TOKEN]: lost }, "network_unavailable"],
    ["Facebook answers with a page", { [ACCOUNTS]: htmlPage(502) }, "network_unavailable"],
    ["there were too many calls", { [ACCOUNTS]: error(4) }, "rate_limited"],
    ["the account has to be confirmed", { [ACCOUNTS]: error(368, 4854002) }, "account_restricted"],
    ["the person has to log in there first", { [ACCOUNTS]: error(190, 459) }, "account_restricted"],
    ["the new token is not known yet", { [ACCOUNTS]: error(190) }, "network_unavailable"],
    ["the request is refused for good", { [ACCOUNTS]: error(100, 987_654) }, "service_refused"],
  ])("links nothing when %s", async (_what, http, code) => {
    expect((await finish(http)).outcome).toMatchObject({ kind: "failed", code });
  });

  test.each<[Record<string, string>, string]>([
    [{ error: "access_denied", error_reason: "user_denied" }, "access_denied"],
    [{ error: "server_error" }, "network_unavailable"],
    [{ error_code: "4201", error_message: "User canceled the Dialog flow" }, "access_denied"],
    [{ error_code: "1349048", error_message: "Can't load URL" }, "service_refused"],
    [{ error_code: "2", error_message: "An unexpected error has occurred" }, "network_unavailable"],
    [{ error: "invalid_scope" }, "service_refused"],
    [{}, "input_invalid"],
    [{ code: "#_=_" }, "input_invalid"],
  ])("says what came back with the browser: %j", async (params, code) => {
    const { outcome, used } = await finish({}, params);
    expect(outcome).toMatchObject({ kind: "failed", code });
    expect(used.calls).toEqual([]);
  });

  test("keeps no token in what it notes of a failure", async () => {
    const words = { message: "Bad access_token=EAAsecret123 and Bearer EAAsecret123" };
    const { outcome } = await finish({ [ACCOUNTS]: answer(400, { error: { ...words, code: 1 } }) });
    expect(JSON.stringify(outcome)).not.toContain("EAAsecret123");
  });

  test("ends what was allowed with the person's token", async () => {
    const used = tools({ http: { [`DELETE ${GRAPH}/7/permissions`]: answer(200, {}) } });
    await facebook.revoke(credentials, null, used);
    expect(used.calls[0]?.headers?.["authorization"]).toBe("Bearer user-token");
    expect(await facebook.freshen()).toEqual({ kind: "usable" });
  });
});
