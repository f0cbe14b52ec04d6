import type { LinkKind, LinkPage } from "../../src/shared/people/links/schema.ts";
import { dataOf, PASSWORD } from "../setup/factories.ts";
import type { MailedRelay } from "../setup/mail.ts";
import type { Answer, Relay } from "../setup/relay.ts";
import {
  acceptWith,
  askForReset,
  invited,
  lastToken,
  logIn,
  newEmail,
  operatorLink,
  post,
  resetWith,
  tokenOf,
  unverified,
  verified,
} from "./people.ts";

/** A link that somebody has got, and what it is good for. */
interface MadeLink {
  readonly page: LinkPage;
  readonly token: string;
  /** Uses it, the n-th time with another password where it sets one. */
  use(on: Relay, nth?: number): Promise<Answer>;
  /** What is answered to the use that wins, and to each other one at the same time. */
  readonly wins: number;
  readonly loses: number;
  /** Whether it was used. */
  isUsed(): Promise<boolean>;
}

type Make = (mailed: MailedRelay) => Promise<MadeLink>;

const PASSWORDS = ["violet", "copper", "granite", "cobalt", "amber", "crimson"].map(
  (word) => `${word} marmot 7 teacups`,
);

const verifying = (token: string) => (on: Relay) =>
  post(on, "/v1/auth/verify", { token, password: PASSWORD });

/** A link that sets a password. */
function resetting({ relay }: MailedRelay, email: string, token: string): MadeLink {
  return {
    page: "reset",
    token,
    use: (on, nth = 0) => resetWith(on, token, PASSWORDS[nth]),
    wins: 200,
    loses: 400,
    isUsed: async () => (await logIn(relay, email)).status === 401,
  };
}

/** A link of every kind. */
export const LINKS: Readonly<Partial<Record<LinkKind, Make>>> = {
  async verify(mailed) {
    const { email } = await unverified(mailed);
    const token = await lastToken(mailed, email);
    return {
      page: "verify",
      token,
      use: verifying(token),
      wins: 204,
      // It may be used again.
      loses: 204,
      isUsed: async () => dataOf(await logIn(mailed.relay, email)).user.emailVerified,
    };
  },
  async email(mailed) {
    const { session } = await verified(mailed);
    const to = newEmail();
    await post(mailed.relay, "/v1/auth/email", { newEmail: to, password: PASSWORD }, session);
    const token = await lastToken(mailed, to);
    return {
      page: "email",
      token,
      use: verifying(token),
      wins: 204,
      loses: 400,
      isUsed: async () => (await logIn(mailed.relay, to)).status === 200,
    };
  },
  async reset(mailed) {
    const person = await verified(mailed);
    await askForReset(mailed.relay, person);
    return resetting(mailed, person.email, await lastToken(mailed, person.email));
  },
  async operator_reset(mailed) {
    const person = await verified(mailed);
    const { url } = dataOf(await operatorLink(mailed.relay, person));
    return resetting(mailed, person.email, tokenOf(url));
  },
  async invitation(mailed) {
    const { email, token } = await invited(mailed);
    const { stores } = mailed.relay.services.people;
    return {
      page: "invitation",
      token,
      use: (on, nth = 0) => acceptWith(on, token, PASSWORDS[nth]),
      wins: 201,
      loses: 400,
      isUsed: async () => (await stores.emails.find(email)) !== undefined,
    };
  },
};
