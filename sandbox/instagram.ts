import type { Answer, Exchange } from "./exchange.ts";
import { graphError } from "./graph/errors.ts";
import { PASSWORD_CHANGED, sufferFailure } from "./graph/tokens.ts";
import { unknownPath } from "./graph/unknown-path.ts";
import { versioned } from "./graph/version.ts";
import { counted, findToken } from "./instagram/access.ts";
import { commentRoutes } from "./instagram/comments.ts";
import { containerRoutes } from "./instagram/containers.ts";
import { failureAnswer } from "./instagram/failures.ts";
import { longTokenRoutes } from "./instagram/long-tokens.ts";
import { oauthRoutes } from "./instagram/oauth.ts";
import { publishedPosts } from "./instagram/published.ts";
import { publishingRoutes } from "./instagram/publishing.ts";
import { DEMO_INSTAGRAM_APP, findAccount, freshState } from "./instagram/state.ts";
import type { Account, InstagramShared } from "./instagram/state.ts";
import { keep, oneOrAll } from "./kept-maps.ts";
import { KeptNetwork } from "./kept-network.ts";
import type { LogIn, PublishedPost, Route, SandboxNetwork, Surroundings } from "./network.ts";

const GRAPH_HOSTS = ["graph.instagram.com"];

/** The Instagram API with Instagram Login: consent, tokens, containers and publishing. */
export class Instagram extends KeptNetwork<InstagramShared> implements SandboxNetwork {
  readonly name = "instagram";
  readonly title = "Instagram";
  readonly hosts = ["www.instagram.com", "api.instagram.com", ...GRAPH_HOSTS];
  readonly logIns: readonly LogIn[] = [
    {
      label: "Instagram",
      fields: { business: "demo.bakery", creator: "demo.creator", personal: "demo.private" },
    },
  ];
  readonly apps: readonly LogIn[] = [
    {
      label: "Instagram",
      fields: { id: DEMO_INSTAGRAM_APP.id, secret: DEMO_INSTAGRAM_APP.secret },
    },
  ];
  readonly routes: readonly Route[];

  constructor(surroundings: Surroundings) {
    super({ ...surroundings, state: freshState() }, freshState);
    const shared = this.shared;
    const graph = [
      ...longTokenRoutes(shared),
      ...[...containerRoutes(shared), ...commentRoutes(shared), ...publishingRoutes(shared)].map(
        versioned,
      ),
    ];
    this.routes = [
      ...oauthRoutes(shared),
      ...graph.map((route): Route => ({
        ...route,
        hosts: GRAPH_HOSTS,
        run: (exchange, plan) => counted(shared, exchange, () => route.run(exchange, plan)),
      })),
    ];
  }

  /** As after a change of password: this token, or all of them. */
  revokeToken(token?: string): void {
    for (const kept of oneOrAll(this.shared.state.tokens, token)) kept.endedBy ??= PASSWORD_CHANGED;
  }

  /** Takes a permission back from every token. */
  declinePermission(permission: string): void {
    for (const token of this.shared.state.tokens.values())
      token.permissions = token.permissions.filter((name) => name !== permission);
  }

  restrictAccount(userId: string, on: boolean): void {
    this.#account(userId).restricted = on;
  }

  /** Posts of the last 24 hours besides those that were really published; from then on the quota is enforced. */
  setQuotaUsed(userId: string, used: number): void {
    if (!Number.isInteger(used) || used < 0) throw new Error('"used" is a whole number from 0 on');
    this.#account(userId);
    keep(this.shared.state.quotaUsed, userId, { count: used, setAt: this.shared.now() });
  }

  /** The documents say 50 here and 100 there. */
  setQuotaTotal(total: number): void {
    if (!Number.isInteger(total) || total < 1)
      throw new Error('"total" is a whole number from 1 on');
    this.shared.state.quotaTotal = total;
  }

  /** How the code exchange answers: the documented list, or the flat object that is also seen. */
  setTokenShape(shape: string): void {
    if (shape !== "data" && shape !== "flat") throw new Error('"shape" is data or flat');
    this.shared.state.tokenShape = shape;
  }

  usernameOf(userId: string): string | undefined {
    const account = findAccount(this.shared.state, userId);
    return account && `@${account.username}`;
  }

  accountOf(exchange: Exchange): string {
    return findToken(this.shared, exchange)?.userId ?? "";
  }

  failure(code: string, exchange: Exchange): Answer {
    const now = this.shared.now();
    sufferFailure(code, findToken(this.shared, exchange), now);
    return failureAnswer(code, exchange, { subject: this.accountOf(exchange), now });
  }

  tooLarge(): Answer {
    return graphError({ message: "The request is too large.", code: 1, status: 413 });
  }

  notFound(exchange: Exchange): Answer {
    return unknownPath(exchange, {
      network: this.name,
      host: "www.instagram.com",
      title: "Sorry, this page isn't available.",
      message: "The link you followed may be broken, or the page may have been removed.",
    });
  }

  posts(): readonly PublishedPost[] {
    return publishedPosts(this.shared.state);
  }

  #account(userId: string): Account {
    const account = findAccount(this.shared.state, userId);
    if (account === undefined) throw new Error(`there is no account ${userId}`);
    return account;
  }
}
