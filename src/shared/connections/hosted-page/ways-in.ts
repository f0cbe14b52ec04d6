import type {
  LinkField,
  LinkForm,
  NetworkApp,
  NetworkApps,
  OAuthFlow,
} from "../../networks/contract/network.ts";
import type { RegisteredNetwork } from "../../networks/lookup.ts";
import type { AwayTo } from "./browser.ts";
import type { AskedForm, Way } from "./form.ts";

/** A form of the page, and what it begins. */
export type WayIn = AskedForm &
  (
    | { readonly kind: "oauth"; readonly link: OAuthFlow }
    | { readonly kind: "form"; readonly link: LinkForm }
  );

export interface WaysIn {
  readonly first: WayIn;
  readonly other: WayIn | null;
}

/** How this deployment links accounts of the network. */
export function waysIn({ name, link }: RegisteredNetwork, app: NetworkApp | undefined): WaysIn {
  const fields = asked(link.fields, app);
  if (link.kind === "form")
    return { first: { kind: "form", link, fields, wordsAt: name }, other: null };
  const other = alternativeOf(name, link, app);
  if (other !== null && link.needsApp === true && app === undefined)
    return { first: other, other: null };
  return { first: { kind: "oauth", link, fields, wordsAt: name }, other };
}

/** Where the first way of each of these networks leads away from our page. */
export function awayOf(networks: readonly RegisteredNetwork[], apps: NetworkApps): AwayTo {
  const origins = networks.flatMap((network) => {
    const { first } = waysIn(network, apps[network.name]);
    return first.kind === "oauth" ? [first.link.origins ?? "any"] : [];
  });
  return origins.includes("any") ? "any" : origins.flat();
}

/** The way whose form was sent: its hidden field says which. */
export function wayOf({ first, other }: WaysIn, said: string | undefined): [Way, WayIn] {
  return said === "other" && other !== null ? ["other", other] : ["first", first];
}

function alternativeOf(
  name: string,
  { alternative }: OAuthFlow,
  app: NetworkApp | undefined,
): WayIn | null {
  if (alternative === undefined) return null;
  const fields = asked(alternative.fields, app);
  return { kind: "form", link: alternative, fields, wordsAt: `${name}.alternative` };
}

function asked(fields: readonly LinkField[], app: NetworkApp | undefined): readonly LinkField[] {
  return fields.filter(({ isAsked }) => isAsked === undefined || isAsked(app));
}
