import { consentErrorPage } from "./consent-page.ts";
import { htmlPage } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { oneOrAll } from "./kept-maps.ts";
import { KeptNetwork } from "./kept-network.ts";
import { findToken } from "./linkedin/access.ts";
import { assetRoutes } from "./linkedin/assets.ts";
import { linkedInError } from "./linkedin/errors.ts";
import { followUpRoutes } from "./linkedin/follow-ups.ts";
import { failureAnswer } from "./linkedin/failures.ts";
import { oauthRoutes } from "./linkedin/oauth.ts";
import { peopleRoutes } from "./linkedin/people.ts";
import { postRoutes } from "./linkedin/posts.ts";
import { authorOf, publishedPosts } from "./linkedin/published.ts";
import {
  DEMO_LINKEDIN_APP,
  DEMO_LINKEDIN_ORG_APP,
  DEMO_MEMBER,
  freshState,
} from "./linkedin/state.ts";
import type { LinkedInShared, Organization } from "./linkedin/state.ts";
import { videoRoutes } from "./linkedin/videos.ts";
import type { LogIn, PublishedPost, Route, SandboxNetwork, Surroundings } from "./network.ts";

/** LinkedIn's consent page, uploads and versioned API, as far as publishing as a member or organization needs them. */
export class LinkedIn extends KeptNetwork<LinkedInShared> implements SandboxNetwork {
  readonly name = "linkedin";
  readonly title = "LinkedIn";
  readonly hosts = ["www.linkedin.com", "api.linkedin.com"];
  readonly logIns: readonly LogIn[] = [
    { label: "LinkedIn", fields: { member: "Dana Demo", organization: "Demo Bakery Ltd" } },
  ];
  readonly apps: readonly LogIn[] = [
    {
      label: "LinkedIn, for members",
      fields: { id: DEMO_LINKEDIN_APP.id, secret: DEMO_LINKEDIN_APP.secret },
    },
    {
      label: "LinkedIn, for organizations",
      fields: { id: DEMO_LINKEDIN_ORG_APP.id, secret: DEMO_LINKEDIN_ORG_APP.secret },
    },
  ];
  readonly routes: readonly Route[];

  constructor(surroundings: Surroundings) {
    super({ ...surroundings, state: freshState() }, freshState);
    this.routes = [
      ...oauthRoutes(this.shared),
      ...peopleRoutes(this.shared),
      ...assetRoutes(this.shared),
      ...videoRoutes(this.shared),
      ...postRoutes(this.shared),
      ...followUpRoutes(this.shared),
    ];
  }

  get organizations(): readonly Readonly<Organization>[] {
    return this.shared.state.organizations;
  }

  /** As if the member had removed the app: this token, or all of them. */
  revokeToken(token?: string): void {
    for (const kept of oneOrAll(this.#tokens(), token)) kept.isRevoked = true;
  }

  /** An organization of the demo member's, as its administrator when no role is named. */
  addOrganization(wanted: {
    readonly name: string;
    readonly role?: string | undefined;
  }): Organization {
    const { organizations } = this.shared.state;
    const id = String(Number(organizations.at(-1)?.id ?? "90210000") + 1);
    const { name, role = "ADMINISTRATOR" } = wanted;
    const vanityName = name.toLowerCase().replace(/\W+/g, "-");
    const added = { id, name, vanityName, roles: { [DEMO_MEMBER]: role } };
    organizations.push(added);
    return added;
  }

  /** The demo member no longer has anything to do with the organization. */
  loseRole(organizationId: string): void {
    const found = this.shared.state.organizations.find(({ id }) => id === organizationId);
    if (found === undefined) throw new Error(`there is no organization ${organizationId}`);
    found.roles = {};
  }

  usernameOf(urn: string): string {
    return authorOf(this.shared.state, urn).username;
  }

  accountOf(exchange: Exchange): string {
    return findToken(this.shared, exchange)?.memberId ?? "";
  }

  failure(code: string, exchange: Exchange): Answer {
    const token = findToken(this.shared, exchange);
    if (token !== undefined && code === "connection_needs_reauth") token.isRevoked = true;
    if (token !== undefined && code === "token_expired") token.expiresAt = this.shared.now();
    return failureAnswer(code);
  }

  tooLarge(): Answer {
    return linkedInError({ status: 413, message: "Request Entity Too Large" });
  }

  notFound({ host, path }: Exchange): Answer {
    if (host === "www.linkedin.com")
      return htmlPage(
        404,
        consentErrorPage("linkedin", "This page doesn't exist", "Please check the address."),
      );
    return linkedInError({
      status: 404,
      code: "RESOURCE_NOT_FOUND",
      message: `No virtual resource found: ${path}`,
    });
  }

  posts(): readonly PublishedPost[] {
    return publishedPosts(this.shared.state);
  }

  removedPosts(): readonly PublishedPost[] {
    return [...this.shared.state.removed.values()];
  }

  #tokens() {
    const { tokens, refreshTokens } = this.shared.state;
    return [...tokens, ...refreshTokens];
  }
}
