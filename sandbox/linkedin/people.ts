import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Route } from "../network.ts";
import { administers, authorize, needScope, versioned } from "./access.ts";
import { badField, linkedInRefusal } from "./errors.ts";
import { findOrganization, fullName, organizationUrn, personUrn } from "./state.ts";
import type { LinkedInShared, Token } from "./state.ts";
import { route } from "../network.ts";

const COUNT = 10;
const COUNT_MAX = 100;

/** A part of a list, as finders answer it. */
export function elements(exchange: Exchange, found: readonly unknown[]): Answer {
  const number = (name: string, fallback: number) => {
    const value = Number(exchange.query.get(name) ?? fallback);
    if (!Number.isInteger(value) || value < 0)
      throw badField(name, "INVALID_VALUE", `The parameter ${name} must be a number`);
    return value;
  };
  const start = number("start", 0);
  const count = Math.min(number("count", COUNT), COUNT_MAX);
  const paging = { start, count, links: [], total: found.length };
  return json(200, { elements: found.slice(start, start + count), paging });
}

function userinfo(shared: LinkedInShared, exchange: Exchange): Answer {
  const token = authorize(shared, exchange);
  needScope(token, "openid", "userinfo.GET.NO_VERSION");
  const member = shared.state.members.find(({ id }) => id === token.memberId);
  if (member === undefined) throw linkedInRefusal({ status: 404, message: "Member not found" });
  const { id, givenName, familyName, email } = member;
  return json(200, {
    sub: id,
    ...(token.scopes.includes("profile")
      ? {
          name: fullName(member),
          given_name: givenName,
          family_name: familyName,
          picture: `https://media.licdn.com/dms/image/${id}`,
          locale: { country: "US", language: "en" },
        }
      : {}),
    ...(token.scopes.includes("email") ? { email, email_verified: true } : {}),
  });
}

function organizationAcls(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  needScope(token, "rw_organization_admin", "organizationAcls.FINDER-roleAssignee");
  const { query } = exchange;
  if (query.get("q") !== "roleAssignee")
    throw badField("q", "INVALID_VALUE", "The only finder here is roleAssignee");
  const wanted = { role: query.get("role"), state: query.get("state") };
  const found = shared.state.organizations
    .flatMap(({ id, roles }) => {
      const role = roles[token.memberId];
      return role === undefined ? [] : [{ id, role, state: "APPROVED" }];
    })
    .filter(
      ({ role, state }) =>
        [role, null].includes(wanted.role) && [state, null].includes(wanted.state),
    )
    .map(({ id, role, state }) => ({
      organization: organizationUrn(id),
      role,
      roleAssignee: personUrn(token.memberId),
      state,
    }));
  return elements(exchange, found);
}

function organization(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  needScope(token, "rw_organization_admin", "organizations.GET");
  const id = exchange.params["id"] ?? "";
  const found = findOrganization(shared.state, organizationUrn(id));
  if (found === undefined)
    throw linkedInRefusal({
      status: 404,
      code: "NOT_FOUND",
      message: `Organization ${id} is not found`,
    });
  const { name, vanityName } = found;
  const isAdmin = administers(shared, token, organizationUrn(id));
  return json(200, {
    id: Number(id),
    localizedName: name,
    vanityName,
    name: { localized: { en_US: name }, preferredLocale: { country: "US", language: "en" } },
    ...(isAdmin ? { organizationStatus: "OPERATING", organizationType: "PRIVATELY_HELD" } : {}),
  });
}

export function peopleRoutes(shared: LinkedInShared): Route[] {
  return [
    route("GET /v2/userinfo", "userinfo", (exchange) => userinfo(shared, exchange), {
      hosts: ["api.linkedin.com"],
    }),
    versioned(shared, "GET /organizationAcls", "organizationAcls", organizationAcls),
    versioned(shared, "GET /organizations/{id}", "organization", organization),
  ];
}
