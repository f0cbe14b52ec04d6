import type { NetworkName, RegisteredNetwork } from "../../networks/networks.ts";
import type { LinkField, LinkForm, OAuthFlow } from "../../networks/contract/link.ts";
import type { NetworkApp, NetworkApps } from "../../networks/contract/settings.ts";
import { html, type Markup } from "./markup.ts";
import { renderCapability, type Capability } from "./layout.ts";
import { languageWords, type Language } from "./language.ts";
import type { LinkProblem } from "./link-problem.ts";
import type { FieldWords } from "./words.ts";
import type { AwayTo } from "./browser.ts";
import { WARNING } from "./marks.ts";

/** Which of the two ways of linking an account of a network. */
export type Way = "first" | "other";

export interface AskedForm {
  readonly fields: readonly LinkField[];
  /** The key of the field's texts in the language files. */
  readonly wordsAt: string;
}

/** The hidden field of the form for the second way. */
export const WAY_FIELD = "way";

export interface NetworkForm extends Capability, AskedForm {
  readonly language: Language;
  readonly network: NetworkName;
  readonly way: Way;
  readonly action: string;
  /** What was entered before, without secrets. */
  readonly typed: Readonly<Record<string, string>>;
  /** What is wrong with a field. The message is shown at the field. */
  readonly fault: FieldFault | null;
  readonly button: Markup;
  /** Whether the button is not what most people are here for. */
  readonly isQuiet: boolean;
}

export interface FieldFault {
  readonly field: string;
  readonly sentence: Markup;
}

/** The fields that may have caused a problem, by name. The first one that the form has is used. */
const FIELDS_AT_FAULT: Partial<Record<LinkProblem, readonly string[]>> = {
  wrong_credentials: ["appPassword"],
  app_password_needed: ["appPassword"],
  account_not_found: ["identifier"],
  account_moved: ["identifier"],
  other_account: ["identifier"],
  instance_unreachable: ["server", "instance", "identifier"],
  instance_protected: ["server", "instance", "identifier"],
  instance_unsupported: ["server", "instance", "identifier"],
};

/** Fields that may be empty. If they are, they can't be the cause. */
const MAY_BE_EMPTY = new Set(["server"]);

/** Returns the field that a problem is about, or undefined when it is about none. */
export function fieldAtFault(
  problem: LinkProblem,
  fields: readonly LinkField[],
  typed: Readonly<Record<string, string>>,
): string | undefined {
  const names = fields.map(({ name }) => name);
  const isSaid = (name: string) => !MAY_BE_EMPTY.has(name) || (typed[name] ?? "") !== "";
  if (problem === "input_invalid") return names[0];
  return FIELDS_AT_FAULT[problem]?.find((name) => names.includes(name) && isSaid(name));
}

function fieldId(network: NetworkName, way: Way, name: string): string {
  return way === "first" ? `${network}-${name}` : `${network}-other-${name}`;
}

/** Returns the texts of a field in the page's language. The network itself has the English ones. */
function fieldWords(
  language: Language,
  wordsAt: string,
  { name, label, hint }: Pick<LinkField, "name" | "label" | "hint">,
): FieldWords {
  return languageWords(language).fields?.[`${wordsAt}.${name}`] ?? { label, hint };
}

/** Returns the label of a form's field in the page's language. */
export function fieldLabel(
  language: Language,
  { fields, wordsAt }: AskedForm,
  name: string,
): string {
  const field = fields.find((one) => one.name === name);
  return field === undefined ? name : fieldWords(language, wordsAt, field).label;
}

export function renderForm(form: NetworkForm): Markup {
  const { action, fields, way, button, isQuiet } = form;
  return html`<form method="post" action="${action}">
    ${renderCapability(form)}${way === "other" && html`<input type="hidden" name="${WAY_FIELD}" value="other" />`}
    ${fields.map((field) => renderField(form, field))}
    <button ${isQuiet && html`class="quiet"`}><span>${button}</span></button>
  </form>`;
}

function renderField(form: NetworkForm, field: LinkField): Markup {
  const { network, way, wordsAt, language, fault } = form;
  const id = fieldId(network, way, field.name);
  const { label, hint, choices } = fieldWords(language, wordsAt, field);
  const sentence = fault?.field === field.name ? fault.sentence : null;
  const isWrong = sentence !== null;
  const described = [isWrong ? "problem" : "", hint === "" ? "" : `${id}-hint`].join(" ").trim();
  const input =
    field.choices === undefined
      ? renderInput(form, field, { id, described, isWrong })
      : renderSelect(form, field, { id, described, isWrong, choices: choices ?? {} });
  const hinted = hint !== "" && html`<span class="hint" id="${id}-hint">${hint}</span>`;
  return html`<div class="field">
    <label for="${id}">${label}${hinted}</label>
    ${isWrong && html`<p class="error" id="problem">${WARNING}<span>${sentence}</span></p>`}${input}
  </div>`;
}

interface InputIds {
  readonly id: string;
  readonly described: string;
  readonly isWrong: boolean;
}

/** Attributes of a field with an error. It gets the focus when the page opens, so that it is read first. */
const WRONG = html`aria-invalid="true" autofocus`;

function renderSelect(
  { typed }: NetworkForm,
  { name, choices = [] }: LinkField,
  { id, described, isWrong, choices: labels }: InputIds & Required<Pick<FieldWords, "choices">>,
): Markup {
  const options = choices.map(
    ({ value, label }) =>
      html`<option value="${value}" ${value === typed[name] && html` selected`}>
        ${labels[value] ?? label}
      </option>`,
  );
  return html`<select id="${id}" name="${name}" aria-describedby="${described}" ${isWrong && WRONG}>
    ${options}
  </select>`;
}

function renderInput(
  { typed }: NetworkForm,
  { name, secret = false, placeholder = "", autocomplete = "off", suggestions = [] }: LinkField,
  { id, described, isWrong }: InputIds,
): Markup {
  const list =
    suggestions.length > 0 &&
    html`<datalist id="${id}-list">
      ${suggestions.map((value) => html`<option value="${value}"></option>`)}
    </datalist>`;
  return html`<input
      id="${id}"
      ${suggestions.length > 0 && html`list="${id}-list"`}
      name="${name}"
      type="${secret ? "password" : "text"}"
      value="${secret ? "" : (typed[name] ?? "")}"
      placeholder="${placeholder}"
      autocomplete="${autocomplete}"
      aria-describedby="${described}"
      ${isWrong && WRONG}
      autocapitalize="none"
      spellcheck="false"
    />${list}`;
}

/** A form of the page, and the kind of sign-in that it starts. */
export type WayIn = AskedForm &
  (
    | { readonly kind: "oauth"; readonly link: OAuthFlow }
    | { readonly kind: "form"; readonly link: LinkForm }
  );

export interface WaysIn {
  readonly first: WayIn;
  readonly other: WayIn | null;
}

/** Returns the ways in which this deployment links accounts of the network. */
export function waysIn({ name, link }: RegisteredNetwork, app: NetworkApp | undefined): WaysIn {
  const fields = asked(link.fields, app);
  if (link.kind === "form")
    return { first: { kind: "form", link, fields, wordsAt: name }, other: null };
  const other = alternativeOf(name, link, app);
  if (other !== null && link.needsApp === true && app === undefined)
    return { first: other, other: null };
  return { first: { kind: "oauth", link, fields, wordsAt: name }, other };
}

export function awayOf(networks: readonly RegisteredNetwork[], apps: NetworkApps): AwayTo {
  const origins = networks.flatMap((network) => {
    const { first } = waysIn(network, apps[network.name]);
    return first.kind === "oauth" ? [first.link.origins ?? "any"] : [];
  });
  return origins.includes("any") ? "any" : origins.flat();
}

/** Returns the way whose form was sent, by its hidden field. */
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
