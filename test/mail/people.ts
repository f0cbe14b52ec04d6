import { randomBytes } from "node:crypto";
import type { ReadMail } from "../../sandbox/mailbox.ts";
import { dataOf, PASSWORD } from "../setup/factories.ts";
import { tokenIn, type MailedRelay } from "../setup/mail.ts";
import type { Answer, Relay } from "../setup/relay.ts";

export const NEW_PASSWORD = "violet marmot 7 teacups";

/** Somebody who signed up, where there is mail. */
export interface Person {
  readonly email: string;
  readonly id: string;
  readonly platformId: string;
  readonly session: string;
  readonly deviceToken: string;
}

export const newEmail = () => `person-${randomBytes(8).toString("hex")}@example.com`;

/** Who asks: a session, or somebody at an address. */
type By = string | { readonly address: string };

export const post = (on: Relay, path: string, body: object, by?: By): Promise<Answer> =>
  on.call("POST", path, {
    body,
    ...(typeof by === "string" ? { session: by } : {}),
    ...(typeof by === "object" ? { headers: { "x-forwarded-for": by.address } } : {}),
  });

export const logIn = (on: Relay, email: string, password = PASSWORD) =>
  post(on, "/v1/auth/login", { email, password });

export const signUpAs = (on: Relay, email: string, password = PASSWORD) =>
  post(on, "/v1/auth/signup", { email, password, platformName: "Example" });

/** Returns the latest mail to an address. */
export const lastMail = async (mailed: MailedRelay, email: string): Promise<ReadMail | undefined> =>
  (await mailed.mailsTo(email)).at(-1);

/** Returns the token of the link in the latest mail to an address. */
export const lastToken = async (mailed: MailedRelay, email: string): Promise<string> =>
  tokenIn(await lastMail(mailed, email));

export async function unverified(mailed: MailedRelay, email = newEmail()): Promise<Person> {
  const { user, platform, token, deviceToken } = dataOf(await signUpAs(mailed.relay, email));
  return { email, id: user.id, platformId: platform.id, session: token, deviceToken };
}

export async function verified(mailed: MailedRelay, email = newEmail()): Promise<Person> {
  const person = await unverified(mailed, email);
  const body = { token: await lastToken(mailed, email), password: PASSWORD };
  const { status } = await post(mailed.relay, "/v1/auth/verify", body);
  if (status !== 204) throw new Error(`the email was not verified: ${status}`);
  return person;
}

export const askForReset = (on: Relay, { email }: Pick<Person, "email">) =>
  post(on, "/v1/auth/reset", { email });

export const resetWith = (on: Relay, token: string, newPassword = NEW_PASSWORD) =>
  post(on, "/v1/auth/reset/confirm", { token, newPassword });

export const operatorLink = (on: Relay, { platformId, id }: Pick<Person, "platformId" | "id">) =>
  on.call("POST", `/v1/admin/platforms/${platformId}/users/${id}/reset-link`, {
    operator: ["Admin"],
    body: {},
  });

export const inviteBy = ({ session }: Pick<Person, "session">, on: Relay, email: string) =>
  post(on, "/v1/invitations", { email }, session);

/** Somebody who is invited, the token of the link, and the owner who did it. */
export async function invited(mailed: MailedRelay) {
  const owner = await verified(mailed);
  const email = newEmail();
  dataOf(await inviteBy(owner, mailed.relay, email));
  return { owner, email, token: await lastToken(mailed, email) };
}

export const acceptWith = (on: Relay, token: string, password = PASSWORD) =>
  post(on, "/v1/auth/invitations/accept", { token, password });

/** Returns the token of a link's address. */
export const tokenOf = (url: string) => new URL(url).searchParams.get("token") ?? "";
