import { consentErrorPage } from "./consent-page.ts";
import { optionalText, text } from "./control-input.ts";
import { htmlPage } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { keep, oneOrAll } from "./kept-maps.ts";
import { KeptNetwork } from "./kept-network.ts";
import { findToken } from "./linkedin/access.ts";
import { assetRoutes } from "./linkedin/assets.ts";
import { linkedInError } from "./linkedin/errors.ts";
import { failureAnswer } from "./linkedin/failures.ts";
import { issueToken, oauthRoutes } from "./linkedin/oauth.ts";
import { peopleRoutes } from "./linkedin/people.ts";
import { postRoutes, quotaKey } from "./linkedin/posts.ts";
import { publishedPosts } from "./linkedin/published.ts";
import {
  DEMO_LINKEDIN_APP,
  DEMO_LINKEDIN_ORG_APP,
  DEMO_MEMBER,
  freshState,
  organizationUrn,
  personUrn,
} from "./linkedin/state.ts";
import type { LinkedInShared, Organization } from "./linkedin/state.ts";
import { videoRoutes } from "./linkedin/videos.ts";
import type {
  Control,
  LogIn,
  PublishedPost,
  Route,
  SandboxNetwork,
  Surroundings,
} from "./network.ts";

/** LinkedIn's consent page, uploads and versioned API, as far as publishing as a member or organisation needs them. */
export class LinkedIn extends KeptNetwork<LinkedInShared> implements SandboxNetwork {
  readonly name = "linkedin";
  readonly title = "LinkedIn";
  readonly hosts = ["www.linkedin.com", "api.linkedin.com"];
  readonly logIns: readonly LogIn[] = [
    { label: "LinkedIn", fields: { member: "Dana Demo", organization: "Demo Bakery Ltd" } },
    {
      label: "The app for members at LinkedIn",
      fields: { id: DEMO_LINKEDIN_APP.id, secret: DEMO_LINKEDIN_APP.secret },
    },
    {
      label: "The app for organizations at LinkedIn",
      fields: { id: DEMO_LINKEDIN_ORG_APP.id, secret: DEMO_LINKEDIN_ORG_APP.secret },
    },
  ];
  readonly controls: Readonly<Record<string, Control>> = {
    issueToken: (input) =>
      this.issueToken({ as: input["as"] === "organization" ? "organization" : "member" }),
    revokeToken: (input) => this.revokeToken(optionalText(input["token"])),
    expireToken: (input) => this.expireToken(optionalText(input["token"])),
    declinePermission: (input) => this.declinePermission(text(input, "permission")),
    addOrganization: (input) =>
      this.addOrganization({ name: text(input, "name"), role: optionalText(input["role"]) }),
    loseRole: (input) => this.loseRole(text(input, "organizationId")),
    setQuotaUsed: (input) => this.setQuotaUsed(text(input, "memberId"), Number(input["used"])),
    allowMemberVideoReads: (input) => this.allowMemberVideoReads(input["on"] !== false),
  };
  readonly routes: readonly Route[];

  constructor(surroundings: Surroundings) {
    super({ ...surroundings, state: freshState() }, freshState);
    this.routes = [
      ...oauthRoutes(this.shared),
      ...peopleRoutes(this.shared),
      ...assetRoutes(this.shared),
      ...videoRoutes(this.shared),
      ...postRoutes(this.shared),
    ];
  }

  get organizations(): readonly Readonly<Organization>[] {
    return this.shared.state.organizations;
  }

  /** A token without the walk through the consent page, for tests that are about something else. */
  issueToken(
    wanted: {
      readonly as?: "member" | "organization";
      readonly memberId?: string;
      readonly scopes?: readonly string[];
    } = {},
  ): { readonly accessToken: string; readonly author: string } {
    const { as = "member", memberId = DEMO_MEMBER } = wanted;
    const { state } = this.shared;
    const appId = as === "member" ? DEMO_LINKEDIN_APP.id : DEMO_LINKEDIN_ORG_APP.id;
    const scopes = [...(wanted.scopes ?? state.apps.get(appId)?.scopes ?? [])];
    const accessToken = issueToken(this.shared, { appId, memberId, scopes });
    const organization = state.organizations.find(({ roles }) => memberId in roles);
    const author =
      as === "member" || organization === undefined
        ? personUrn(memberId)
        : organizationUrn(organization.id);
    return { accessToken, author };
  }

  /** As if the member had removed the app: this token, or all of them. */
  revokeToken(token?: string): void {
    for (const kept of oneOrAll(this.#tokens(), token)) kept.isRevoked = true;
  }

  expireToken(token?: string): void {
    for (const kept of oneOrAll(this.#tokens(), token)) kept.expiresAt = this.shared.now();
  }

  /** Takes a scope back from every token. */
  declinePermission(permission: string): void {
    for (const [, token] of this.#tokens())
      token.scopes = token.scopes.filter((scope) => scope !== permission);
  }

  /** An organisation of the demo member's, as its administrator when no role is named. */
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

  /** The demo member no longer has anything to do with the organisation. */
  loseRole(organizationId: string): void {
    const found = this.shared.state.organizations.find(({ id }) => id === organizationId);
    if (found === undefined) throw new Error(`there is no organization ${organizationId}`);
    found.roles = {};
  }

  /** Requests of this UTC day; from then on the quota of 150 is enforced for the member. */
  setQuotaUsed(memberId: string, used: number): void {
    if (!Number.isInteger(used) || used < 0) throw new Error('"used" is a whole number from 0 on');
    const { state } = this.shared;
    if (!state.members.some(({ id }) => id === memberId))
      throw new Error(`there is no member ${memberId}`);
    keep(state.used, quotaKey(this.shared, memberId), used);
    if (!state.limited.includes(memberId)) state.limited.push(memberId);
  }

  /** Whether a token that may only post for a member may look at that member's videos: the documents don't say. */
  allowMemberVideoReads(on: boolean): void {
    this.shared.state.membersMayReadVideos = on;
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

  #tokens() {
    const { tokens, refreshTokens } = this.shared.state;
    return [...tokens, ...refreshTokens];
  }
}
