import { describe, expect, test } from "vitest";
import { browserCookie, readBrowserId } from "../../src/shared/connections/hosted-page/browser.ts";
import { parseConfig } from "../../src/shared/config/config.ts";
import {
  returnAddress,
  withLinked,
  type ConnectSession,
} from "../../src/shared/connections/connect-session.ts";
import { boundedAccount } from "../../src/shared/networks/contract/bounded.ts";
import { readProblem } from "../../src/shared/connections/hosted-page/link-problem.ts";
import { html } from "../../src/shared/connections/hosted-page/markup.ts";
import { renderConnectPage } from "../../src/shared/connections/hosted-page/connect-page.ts";
import type { Branding } from "../../src/shared/connections/schema.ts";
import { LINK_ERRORS } from "../../src/shared/networks/contract/link.ts";
import { aCard, aPage, gallery } from "../outside/browser/gallery.ts";
import { formsOf, readable } from "./browser.ts";

const session: ConnectSession = {
  id: "cns_1",
  platformId: "plt_1",
  applicationId: "app_1",
  profileId: "prf_1",
  createdBy: { kind: "api_key", id: "key_1" },
  makers: [],
  status: "open",
  networks: ["bluesky", "mastodon"],
  returnUrl: "https://app.example.org/back?a=1&status=mine#part",
  state: "a b&c",
  branding: {},
  allowDisconnect: false,
  tokenHash: "",
  links: [],
  disconnected: [],
  attempts: 0,
  expiresAt: "2026-03-04T11:00:00.000Z",
  createdAt: "2026-03-04T10:00:00.000Z",
};

describe("markup", () => {
  test("escapes every interpolation, for text and for quoted attributes", () => {
    const hostile = `"><script>alert('&')</script>`;
    expect(html`<a title="${hostile}">${hostile}</a>`.text).toBe(
      `<a title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</a>`,
    );
  });

  test("keeps markup, joins lists and leaves out what is absent", () => {
    const items = ["a", "<b>"].map((item) => html`<i>${item}</i>`);
    const made = html`<p>${items}${null}${undefined}${false}${0}</p>`;
    expect(made.text).toBe("<p><i>a</i><i>&lt;b&gt;</i>0</p>");
  });
});

describe("the page", () => {
  test("shows an account with a hostile name as text", () => {
    const name = `<img src=x onerror=alert(1)>"'`;
    const account = { name, handle: "", avatarUrl: null };
    const cards = [aCard("mastodon", { state: "linked", account })];
    const text = renderConnectPage(aPage({ cards }), "n");
    expect(text).not.toContain("<img");
    expect(readable(text)).toContain(`Mastodon: ${name} Connected`);
  });

  test("a name can't turn the words around it", () => {
    const name = "\u202egnp.exe\u2066 \u0007evil";
    const account = { name, handle: "", avatarUrl: null };
    const cards = [aCard("mastodon", { state: "linked", account })];
    const branding = { name: "\u202eAcme" };
    const text = renderConnectPage(aPage({ cards, branding }), "n");
    expect(text).toContain("<bdi>gnp.exe evil</bdi>");
    expect(text).not.toMatch(/\p{Bidi_Control}/u);
  });

  test("the page never gives a secret back, even when it is handed one", () => {
    const typed = { identifier: `a"b`, appPassword: "hunter2" };
    const problem = { problem: "wrong_credentials", way: "other", typed } as const;
    const text = renderConnectPage(aPage({ cards: [aCard("bluesky", { problem })] }), "n");
    const form = formsOf(text).find(({ fields }) => "appPassword" in fields);
    expect(form?.fields).toEqual({
      session: "cns_1",
      token: "token",
      way: "other",
      identifier: `a"b`,
      appPassword: "",
      server: "",
    });
    expect(text).not.toContain("hunter2");
  });

  test("a problem with one form says nothing about the network's other one", () => {
    const typed = { identifier: "alice", appPassword: "" };
    const problem = { problem: "wrong_credentials", way: "other", typed } as const;
    const text = renderConnectPage(aPage({ cards: [aCard("bluesky", { problem })] }), "n");
    const [first, other] = formsOf(text);
    expect([first?.fields["identifier"], other?.fields["identifier"]]).toEqual(["", "alice"]);
    expect(text.match(/aria-invalid="true"/g)).toHaveLength(1);
    expect(text).toMatch(/id="bluesky-other-appPassword"[^>]*aria-invalid="true"/);
    expect(text).toMatch(/<details open/);
  });

  test.each([
    ["#ffffff", "#000000"],
    ["#ffff00", "#000000"],
    ["#000000", "#ffffff"],
    ["#2457d6", "#ffffff"],
    ["#1a73e8", "#ffffff"],
  ])("text on %s is %s", (accentColor, text) => {
    const shown = renderConnectPage(aPage({ branding: { accentColor } }), "n");
    expect(shown).toContain(`--accent: ${accentColor}; --on-accent: ${text};`);
  });

  test.each(LINK_ERRORS)("%s has words of its own that name a way forward", (code) => {
    const wordsFor = (problem: (typeof LINK_ERRORS)[number]) => {
      const told = { problem, way: "first", typed: {} } as const;
      const text = renderConnectPage(aPage({ cards: [aCard("facebook", { problem: told })] }), "n");
      return readable(/<(p|div) [^>]*id="problem"[\s\S]*?<\/\1>/.exec(text)?.[0] ?? "");
    };
    const words = wordsFor(code);
    expect(words.length).toBeGreaterThan(40);
    expect(LINK_ERRORS.filter((other) => wordsFor(other) === words)).toEqual([code]);
    expect(readProblem(code)).toBe(code);
  });

  test("the page has an icon of the customer's color and initial, without one of the customer's", () => {
    const iconOf = (branding: Branding) => {
      const [, icon = ""] =
        /rel="icon" href="data:image\/svg\+xml,([^"]*)"/.exec(
          renderConnectPage(aPage({ branding }), "n"),
        ) ?? [];
      return decodeURIComponent(icon);
    };
    expect(iconOf({ name: "<b>", accentColor: "#ffe600" })).toMatch(/fill="#ffe600".*>&lt;<\/text/);
    expect(iconOf({})).toContain("<path");
  });

  test("says that a connection stays as it was when another try fails", () => {
    const account = { name: "ada", handle: "", avatarUrl: null };
    const problem = { problem: "access_denied", way: "first", typed: {} } as const;
    for (const state of ["linked", "needs_reauth"] as const) {
      const cards = [aCard("facebook", { state, account, problem })];
      const text = readable(renderConnectPage(aPage({ cards }), "n"));
      expect(text).toContain("Your connection to Facebook was not changed");
      expect(text).not.toContain("Facebook was not connected");
    }
  });

  test("shows the problem once, in the one row that is open", () => {
    const problem = { problem: "instance_unreachable", way: "first", typed: {} } as const;
    const text = renderConnectPage(
      aPage({ cards: [aCard("facebook"), aCard("mastodon", { problem })], hasLinked: true }),
      "n",
    );
    expect(readable(text).match(/could not be reached/g)).toHaveLength(1);
    expect(
      [...text.matchAll(/<details name="network" id="([\w-]+)" open/g)].map(([, id]) => id),
    ).toEqual(["row-mastodon"]);
  });

  test("an address can't put words of its own on the page", () => {
    expect(readProblem("Call +1 555 0100")).toBeUndefined();
    expect(readProblem("constructor")).toBeUndefined();
  });

  test("leads straight to a network that asks for nothing before", () => {
    const text = renderConnectPage(aPage({ cards: [aCard("instagram"), aCard("mastodon")] }), "n");
    const [direct, asking] = text.split('id="row-mastodon"');
    expect(direct).toMatch(/<button aria-label="Connect Instagram">\s*Connect\s*<\/button>/);
    expect(direct).toContain("Business or creator account");
    expect(direct).not.toMatch(/<summary class="line">[^]*Instagram/);
    expect(asking).toMatch(/<summary[^]*Any server[^]*name="instance"/);
    expect(text).not.toContain('class="steps"');
  });

  test("says before the way to a network which name it will show there", () => {
    const shown = (branding: Branding, cards = [aCard("facebook"), aCard("instagram")]) =>
      readable(
        renderConnectPage(aPage({ branding, cards, service: "Relay" }), "n").replaceAll(
          /<\/?bdi>/g,
          "",
        ),
      );
    const sentence = "Facebook and Instagram will show “Relay”, the service that Planner publishes";
    expect(shown({ name: "Planner" })).toContain(sentence);
    expect(shown({ name: "Planner" }, [aCard("mastodon")])).toContain("Mastodon will show “Relay”");
    expect(shown({})).toContain("Facebook and Instagram will show the name “Relay”.");
    expect(shown({ name: "Relay" })).not.toContain("will show");
  });

  test("fills in what it knows of the linked account, and offers large servers", () => {
    const account = { name: "Demo", handle: "demo@mastodon.sandbox.test", avatarUrl: null };
    const known = { instance: "mastodon.sandbox.test" };
    const card = aCard("mastodon", { state: "needs_reauth", account, known });
    const text = renderConnectPage(aPage({ cards: [card] }), "n");
    expect(formsOf(text)[0]?.fields["instance"]).toBe("mastodon.sandbox.test");
    expect(text).toMatch(/list="(mastodon-instance-list)"[^]*<datalist id="\1">/);
    expect(text).toContain('<option value="mastodon.social">');
  });

  test("names the field with the error, and the customer in every sentence about it", () => {
    const problem = { problem: "input_invalid", way: "first", typed: {} } as const;
    const cards = [aCard("mastodon", { problem })];
    const words = readable(renderConnectPage(aPage({ cards }), "n"));
    expect(words).toContain("“Your server” is missing or not in the expected format.");
    const shown = gallery("en", { name: "Planner" }).filter(({ name }) => name !== "plain");
    const unnamed = shown.filter(({ render }) => readable(render("n")).includes("sent you here"));
    expect(unnamed).toEqual([]);
  });

  test("promises nothing about posts that have failed", () => {
    const account = { name: "Demo", handle: "", avatarUrl: null };
    const cards = [aCard("facebook", { state: "needs_reauth", account })];
    const words = readable(renderConnectPage(aPage({ cards, branding: { name: "Planner" } }), "n"));
    expect(words).toContain("Posts that have failed stay failed until Planner sends them again.");
    expect(words).not.toMatch(/published after|Nothing is published/);
  });

  test("says that something is connected only where it is", () => {
    const account = { name: "ada", handle: "", avatarUrl: null };
    const linked = aCard("mastodon", { state: "linked", account });
    const told = (card: typeof linked) =>
      readable(renderConnectPage(aPage({ cards: [card], justLinked: "mastodon" }), "n"));
    expect(told(linked)).toContain("Mastodon is connected.");
    expect(told(aCard("mastodon"))).not.toContain("Mastodon is connected.");
  });
});

describe("a session", () => {
  const link = (of: ConnectSession, network: "bluesky" | "mastodon", connectionId: string) =>
    withLinked(of, { network, connectionId });

  test("a session is complete only when every network asked for has an account", () => {
    const first = link(session, "bluesky", "con_1");
    expect(first.status).toBe("open");
    expect(link(first, "mastodon", "con_2").status).toBe("completed");
    expect(link({ ...first, status: "canceled" }, "mastodon", "con_2").status).toBe("canceled");
  });

  test("counts of one network the account that was linked last", () => {
    const second = link(link(session, "bluesky", "con_1"), "bluesky", "con_2");
    const address = new URL(returnAddress(second, "open") ?? "");
    expect(address.searchParams.get("connections")).toBe("con_2");
  });

  test("leads back to the given address alone, its own parameters kept apart", () => {
    const address = new URL(returnAddress(session, "open") ?? "");
    expect(address.href.startsWith("https://app.example.org/back?a=1&status=open")).toBe(true);
    expect(address.hash).toBe("#part");
    expect(address.searchParams.getAll("status")).toEqual(["open"]);
    expect(address.searchParams.get("state")).toBe("a b&c");
    expect(returnAddress({ ...session, returnUrl: null }, "open")).toBeUndefined();
  });
});

describe("the browser's mark", () => {
  const id = "a".repeat(43);
  const request = (cookie: string | null) => ({
    requestId: "",
    ip: "",
    cookie,
    fetchSite: null,
    language: "en" as const,
  });
  const at = (PUBLIC_BASE_URL: string) =>
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      PUBLIC_BASE_URL,
    });

  test("the browser's mark is a cookie that only our own host can set, where there is https", () => {
    const config = at("https://relay.test/api");
    const flags = "Path=/; HttpOnly; SameSite=Lax; Secure";
    expect(browserCookie(config, id)).toEqual(["set-cookie", `__Host-cx=${id}; ${flags}`]);
    expect(readBrowserId(config, request(`a=1; __Host-cx=${id}`))).toBe(id);
    expect(readBrowserId(config, request(`cx=${id}`))).toBeUndefined();
  });

  test.each([null, "", "cx=", `cx=${id}x`, `xcx=${id}`, `cx=${id.slice(1)}%`])(
    "%j is none",
    (cookie) => {
      expect(readBrowserId(at("http://localhost:7071/api"), request(cookie))).toBeUndefined();
    },
  );
});

describe("what a server says of an account", () => {
  const account = {
    id: "a/1",
    username: "alice",
    displayName: "Alice",
    avatarUrl: "https://a.test/1.png",
    url: "https://a.test/@alice",
    kind: "person",
  };

  test("what a server says of an account is kept as it is when it is sound", () => {
    expect(boundedAccount(account)).toEqual(account);
  });

  test.each([
    [{ avatarUrl: "javascript:alert(1)" }, { avatarUrl: null }],
    [{ avatarUrl: "http://a.test/1.png" }, { avatarUrl: null }],
    [{ url: "data:text/html,x" }, { url: "" }],
    [{ url: `https://a.test/${"x".repeat(3000)}` }, { url: "" }],
    [{ url: `https://a.test/"><script>'` }, { url: "https://a.test/%22%3E%3Cscript%3E%27" }],
    [{ displayName: "x".repeat(100_000) }, { displayName: "x".repeat(200) }],
    [{ username: "evil\u202emoc.knab" }, { username: "evilmoc.knab" }],
    [{ displayName: "a\u2066b\u200f\nc" }, { displayName: "abc" }],
    [{ displayName: `${"x".repeat(199)}\u{1f600}` }, { displayName: `${"x".repeat(199)}\ufffd` }],
  ])("%j is made harmless", (hostile, harmless) => {
    expect(boundedAccount({ ...account, ...hostile })).toEqual({ ...account, ...harmless });
  });

  test.each([[""], ["x".repeat(501)], ["1\r\nx: y"], ["1\u0000"], ["\ud800"]])(
    "an id such as %j is not accepted",
    (id) => {
      expect(boundedAccount({ ...account, id })).toBeUndefined();
    },
  );
});
