import type { NetworkApp } from "../../../src/shared/networks/contract/settings.ts";
import { networkOf, type NetworkName } from "../../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import {
  renderConnectPage,
  type Card,
  type ConnectPage,
} from "../../../src/shared/connections/hosted-page/connect-page.ts";
import { renderChoicePage } from "../../../src/shared/connections/hosted-page/choice.ts";
import { LANGUAGES, type Language } from "../../../src/shared/connections/hosted-page/language.ts";
import {
  renderNotice,
  type NoticeName,
} from "../../../src/shared/connections/hosted-page/visit.ts";
import type { Branding } from "../../../src/shared/connections/schema.ts";
import { waysIn } from "../../../src/shared/connections/hosted-page/form.ts";

const APP: NetworkApp = {
  id: "app",
  secret: "secret",
  version: "1",
  organizations: { id: "organizations", secret: "secret" },
};
const BRANDING: Branding = {
  name: "Bäckerei Sonnenschein",
  accentColor: "#b4531a",
  privacyUrl: "https://bakery.example.org/privacy",
  termsUrl: "https://bakery.example.org/terms",
  supportUrl: "https://bakery.example.org/help",
};
const ACTION = "https://relay.test/v1/connect/ui";

/** A page in a state, as a browser may be shown it. */
export interface Shown {
  readonly name: string;
  readonly render: (nonce: string) => string;
}

export function aCard(network: NetworkName, more: Partial<Card> = {}): Card {
  const registered = networkOf(network);
  const { first, other } = waysIn(registered, APP);
  return {
    network,
    title: registered.title,
    state: "unlinked",
    account: null,
    lacksPermission: false,
    form: first,
    otherForm: other,
    known: {},
    canDisconnect: false,
    leaves: first.kind === "oauth",
    action: `${ACTION}/${network}`,
    problem: null,
    ...more,
  };
}

export function aPage(more: Partial<ConnectPage> = {}): ConnectPage {
  return {
    sessionId: "cns_1",
    token: "token",
    language: "en",
    branding: BRANDING,
    cards: NETWORK_NAMES.map((network) => aCard(network)),
    problem: null,
    service: "Publishing Relay",
    justLinked: null,
    justDisconnected: null,
    hasLinked: false,
    hasWayBack: true,
    secondsLeft: 3_600,
    doneAction: `${ACTION}/done`,
    ...more,
  };
}

const account = (handle: string, name: string) => ({ name, handle, avatarUrl: null });

/** Some linked, one that has to be linked again, one that is not there. */
function mixedCards(): Card[] {
  return [
    aCard("facebook", {
      state: "linked",
      account: account("demobakery", "Demo Bakery"),
      lacksPermission: true,
    }),
    aCard("instagram", { state: "unavailable" }),
    aCard("linkedin", { state: "needs_reauth", account: account("", "Ada Example") }),
    aCard("bluesky", { state: "linked", account: account("alice.bsky.social", "Alice") }),
    aCard("mastodon"),
  ];
}

/** All linked, in a session that allows to disconnect; the last one is open. */
function managedCards(): Card[] {
  return NETWORK_NAMES.map((network) =>
    aCard(network, {
      state: network === "mastodon" ? "needs_reauth" : "linked",
      account: account("demo@mastodon.sandbox.test", "Demo Bakery"),
      known: { instance: "mastodon.sandbox.test" },
      canDisconnect: true,
    }),
  );
}

function withProblem(card: Card): Card[] {
  return NETWORK_NAMES.map((network) => (network === card.network ? card : aCard(network)));
}

const LINKED = [
  { network: "facebook", title: "Facebook", name: "demobakery" },
  { network: "bluesky", title: "Bluesky", name: "alice.bsky.social" },
] as const;

const NOTICES = Object.keys(LANGUAGES.en.notices) as readonly NoticeName[];

function connectPages(): readonly (readonly [string, Partial<ConnectPage>])[] {
  const hostile = `\u202e<img src=x onerror=alert(1)>${"W".repeat(120)}\u0645\u0631\u062d\u0628\u0627`;
  return [
    ["new", {}],
    ["mixed", { cards: mixedCards(), hasLinked: true, justLinked: "facebook" }],
    ["managed", { cards: managedCards(), hasLinked: true }],
    ["disconnected", { justDisconnected: "bluesky" }],
    ["without-way-back", { hasWayBack: false }],
    ["plain", { branding: {}, cards: [aCard("mastodon")] }],
    ["general-problem", { problem: "nothing_linked" }],
    [
      "field-problem",
      {
        cards: withProblem(
          aCard("mastodon", {
            problem: {
              problem: "instance_unreachable",
              way: "first",
              typed: { instance: "nowhere.example" },
            },
          }),
        ),
      },
    ],
    [
      "other-way-problem",
      {
        cards: withProblem(
          aCard("bluesky", {
            problem: {
              problem: "app_password_needed",
              way: "other",
              typed: { identifier: "alice.bsky.social" },
            },
          }),
        ),
      },
    ],
    [
      "network-problem",
      {
        cards: withProblem(
          aCard("instagram", {
            problem: { problem: "account_kind_unsupported", way: "first", typed: {} },
          }),
        ),
      },
    ],
    [
      "linked-problem",
      {
        cards: withProblem(
          aCard("facebook", {
            state: "linked",
            account: account("demobakery", "Demo Bakery"),
            problem: { problem: "access_denied", way: "first", typed: {} },
          }),
        ),
      },
    ],
    [
      "hostile",
      {
        branding: {
          name: hostile.slice(0, 80),
          logoUrl: "https://cdn.nowhere.example.org/logo.png",
        },
        cards: [aCard("mastodon", { state: "linked", account: account(hostile, hostile) })],
        hasLinked: true,
      },
    ],
  ];
}

/** Every state of the page. */
export function gallery(language: Language = "en", branding: Branding = BRANDING): Shown[] {
  const pages = connectPages().map(([name, more]) => ({
    name,
    render: (nonce: string) => renderConnectPage(aPage({ language, branding, ...more }), nonce),
  }));
  const choices = ([null, "nothing_chosen"] as const).map((problem) => ({
    name: problem === null ? "choice" : "choice-problem",
    render: (nonce: string) =>
      renderChoicePage(
        {
          sessionId: "cns_1",
          token: "token",
          language,
          branding,
          network: "facebook",
          title: "Facebook",
          choice: {
            id: "choice",
            isCut: true,
            candidates: [
              { id: "1", label: "Demo Bakery", hint: "@demobakery" },
              { id: "2", label: "Demo Coffee Bar", hint: "@democoffeebar" },
              { id: "3", label: "مخبز \u202eevil", hint: "" },
              { id: "4", label: "Bakers' Guild", hint: "@guild", isBarred: true },
            ],
          },
          problem,
          action: `${ACTION}/facebook`,
          pageAddress: `${ACTION}?session=cns_1`,
        },
        nonce,
      ),
  }));
  const notices = NOTICES.map((notice) => ({
    name: `notice-${notice}`,
    render: (nonce: string) => {
      const hasBack = ["completed", "canceled", "expired", "open"].includes(notice);
      const back = hasBack ? "https://app.customer.example.org/back" : null;
      const goOn = notice === "paused" ? { goOn: ACTION } : {};
      const accounts = ["allSet", "completed", "expired"].includes(notice) ? LINKED : [];
      const page = { language, notice, back, ...goOn, branding, accounts, requestId: "req_1" };
      return renderNotice(page, nonce);
    },
  }));
  return [...pages, ...choices, ...notices];
}
