import type { Answer, Exchange } from "./exchange.ts";
import { failureAnswer } from "./facebook/failures.ts";
import { counted, findToken } from "./facebook/access.ts";
import { dialogRoutes, newProvider } from "./facebook/dialog.ts";
import { feedRoutes } from "./facebook/feed.ts";
import { followUpRoutes } from "./facebook/follow-ups.ts";
import { permalink } from "./facebook/nodes.ts";
import { objectRoutes } from "./facebook/objects.ts";
import { peopleRoutes } from "./facebook/people.ts";
import { photoRoutes } from "./facebook/photos.ts";
import { publishedPosts } from "./facebook/published.ts";
import { DEMO_FACEBOOK_APP, DEMO_PAGE, findPage, freshState, newPage } from "./facebook/state.ts";
import type { FacebookShared, Page } from "./facebook/state.ts";
import { storyRoutes } from "./facebook/stories.ts";
import { tokenRoutes } from "./facebook/tokens.ts";
import { uploadRoutes } from "./facebook/upload.ts";
import { videoRoutes } from "./facebook/videos.ts";
import { graphError } from "./graph/errors.ts";
import { PASSWORD_CHANGED, sufferFailure } from "./graph/tokens.ts";
import { unknownPath } from "./graph/unknown-path.ts";
import { versioned } from "./graph/version.ts";
import { keep, oneOrAll } from "./kept-maps.ts";
import { KeptNetwork } from "./kept-network.ts";
import type { LogIn, PublishedPost, Route, SandboxNetwork, Surroundings } from "./network.ts";

const GRAPH_HOSTS = ["graph.facebook.com", "graph-video.facebook.com"];

/** Facebook's login dialog, Graph API and upload host, as far as publishing to Pages needs them. */
export class Facebook extends KeptNetwork<FacebookShared> implements SandboxNetwork {
  readonly name = "facebook";
  readonly title = "Facebook";
  readonly hosts = ["www.facebook.com", ...GRAPH_HOSTS, "rupload.facebook.com"];
  readonly logIns: readonly LogIn[] = [
    {
      label: "Facebook",
      fields: { account: "Dana Demo", pages: "Demo Bakery, Demo Coffee Bar, Demo Wholesale" },
    },
  ];
  readonly apps: readonly LogIn[] = [
    {
      label: "Facebook",
      fields: { id: DEMO_FACEBOOK_APP.id, secret: DEMO_FACEBOOK_APP.secret },
    },
  ];
  readonly routes: readonly Route[];

  constructor(surroundings: Surroundings) {
    super({ ...surroundings, state: freshState() }, freshState);
    const shared = this.shared;
    const provider = newProvider(shared);
    const tokens = tokenRoutes(shared, provider);
    const graph = [
      ...tokens.versioned,
      ...peopleRoutes(shared),
      ...feedRoutes(shared),
      ...photoRoutes(shared),
      ...videoRoutes(shared),
      ...storyRoutes(shared),
      ...followUpRoutes(shared),
      ...objectRoutes(shared),
    ];
    this.routes = [
      ...dialogRoutes(provider),
      ...uploadRoutes(shared),
      ...[...tokens.plain, ...graph.map(versioned)].map((route) => this.#onGraph(route)),
      this.#shortAddress(),
    ];
  }

  #onGraph(route: Route): Route {
    return {
      ...route,
      hosts: GRAPH_HOSTS,
      run: (exchange, plan) => counted(this.shared, exchange, () => route.run(exchange, plan)),
    };
  }

  /** `facebook.com/{page}_{post}` leads to the post's own address. */
  #shortAddress(): Route {
    return {
      method: "GET",
      hosts: ["www.facebook.com"],
      path: "/{id}",
      name: "shortAddress",
      run: (exchange): Answer => {
        const { state } = this.shared;
        const post = state.posts.get(exchange.params["id"] ?? "");
        return post === undefined
          ? this.notFound(exchange)
          : { status: 302, headers: { location: permalink(state, post) } };
      },
    };
  }

  /** A page of the demo user's; with all tasks when none are named. */
  addPage(page: { readonly name: string; readonly tasks?: readonly string[] | undefined }): Page {
    const { state } = this.shared;
    const id = String(BigInt(state.pages.at(-1)?.id ?? DEMO_PAGE) + 1n);
    const username = page.name.toLowerCase().replace(/\W+/g, "");
    const { name, tasks } = page;
    const added = newPage({ id, name, username, ...(tasks === undefined ? {} : { tasks }) });
    state.pages.push(added);
    for (const grant of state.grants.values()) grant.pageIds.push(id);
    return added;
  }

  /** As after a change of password: this token, or all of them. */
  revokeToken(token?: string): void {
    for (const kept of oneOrAll(this.shared.state.tokens, token)) kept.endedBy ??= PASSWORD_CHANGED;
  }

  /** Takes a permission back from every app that has it. */
  declinePermission(permission: string): void {
    for (const grant of this.shared.state.grants.values()) {
      if (!grant.granted.includes(permission)) continue;
      grant.granted = grant.granted.filter((name) => name !== permission);
      grant.declined.push(permission);
    }
  }

  /** The demo user no longer has anything to do with the page. */
  loseRole(pageId: string): void {
    this.#page(pageId).tasks = {};
  }

  restrictPage(pageId: string, on: boolean): void {
    this.#page(pageId).restricted = on;
  }

  /** The app's setting "require app secret". */
  requireProof(on: boolean): void {
    this.shared.state.requireProof = on;
  }

  /** Facebook notices a repeated text often, not always. */
  refuseDuplicates(on: boolean): void {
    this.shared.state.refuseDuplicates = on;
  }

  /** Reels of the last 24 hours besides those that were really published; from then on the quota is enforced. */
  setQuotaUsed(pageId: string, used: number): void {
    if (!Number.isInteger(used) || used < 0) throw new Error('"used" is a whole number from 0 on');
    const { id } = this.#page(pageId);
    keep(this.shared.state.reelsUsed, id, { count: used, setAt: this.shared.now() });
  }

  claimsBrowser(exchange: Exchange): boolean {
    return exchange.path.endsWith("/dialog/oauth");
  }

  usernameOf(pageId: string): string | undefined {
    const page = findPage(this.shared.state, pageId);
    return page && `@${page.username}`;
  }

  accountOf(exchange: Exchange): string {
    const token = findToken(this.shared, exchange);
    return token?.pageId ?? token?.userId ?? "";
  }

  failure(code: string, exchange: Exchange): Answer {
    const now = this.shared.now();
    sufferFailure(code, findToken(this.shared, exchange), now);
    return failureAnswer(code, exchange, { subject: this.accountOf(exchange), now });
  }

  tooLarge(): Answer {
    return graphError({
      message: "The file you uploaded is too large.",
      code: 1,
      status: 413,
    });
  }

  notFound(exchange: Exchange): Answer {
    return unknownPath(exchange, {
      network: this.name,
      host: "www.facebook.com",
      title: "This content isn't available right now",
      message: "It was removed, or its owner shared it with a small group of people only.",
    });
  }

  posts(): readonly PublishedPost[] {
    return publishedPosts(this.shared.state);
  }

  removedPosts(): readonly PublishedPost[] {
    return [...this.shared.state.removed.values()];
  }

  #page(id: string): Page {
    const page = findPage(this.shared.state, id);
    if (page === undefined) throw new Error(`there is no page ${id}`);
    return page;
  }
}
