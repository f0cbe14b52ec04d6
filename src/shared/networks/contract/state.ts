import type * as z from "zod";
import type { NetworkData } from "./draft.ts";
import { objectShape } from "./fields.ts";
import type {
  CheckedAccount,
  FollowUp,
  FollowUpCall,
  LegToPublish,
  PublishCall,
} from "./network.ts";
import type { FollowUpLookUp, FollowUpOutcome, PrepareOutcome } from "./outcome.ts";
import type { PublishOutcome, LookUpOutcome } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

/** Makes the reader of what a network once wrote about a leg or an account. Anything else is a defect and throws. */
export function readerOf<Fields extends z.ZodRawShape>(fields: () => Fields) {
  const form = objectShape(fields);
  return (data: NetworkData) => form().parse(data);
}

/** The arguments of a network's steps: its own data as its readers return them, and the tools. */
type Own<Of, Credentials, Remote> = Omit<Of, "credentials" | "remote"> & {
  readonly credentials: Credentials;
  readonly remote: Remote;
  readonly tools: NetworkTools;
};

/** A leg as the steps of its network see it. */
export type OwnLeg<Credentials, Remote> = Own<LegToPublish, Credentials, Remote>;

/** A call that follows a post, with the data of the post's leg. */
export type OwnFollowUp<Credentials, Remote> = Omit<FollowUp, "leg"> &
  Own<FollowUp["leg"], Credentials, Remote>;

/** The account for which something is requested. */
type AsAccount<Credentials> = Pick<OwnLeg<Credentials, unknown>, "credentials" | "tools">;

interface OwnCall<Credentials, Remote> {
  readonly prepare: (leg: OwnLeg<Credentials, Remote>) => Promise<PrepareOutcome>;
  readonly perform: (leg: OwnLeg<Credentials, Remote>) => Promise<PublishOutcome>;
  readonly lookUp: (leg: OwnLeg<Credentials, Remote>) => Promise<LookUpOutcome>;
  readonly canTell?: (credentials: Credentials) => boolean;
}

/** The two steps of a call that follows a post. */
export interface OwnSteps<Credentials, Remote> {
  readonly perform: (call: OwnFollowUp<Credentials, Remote>) => Promise<FollowUpOutcome>;
  readonly lookUp: (call: OwnFollowUp<Credentials, Remote>) => Promise<FollowUpLookUp>;
}

interface Readers<Credentials, Remote> {
  readonly credentialsOf: (data: NetworkData) => Credentials;
  readonly remoteOf: (data: NetworkData) => Remote;
}

/** Turns steps that take their network's own data into those of the contract. */
export function ownSteps<Credentials, Remote>({
  credentialsOf,
  remoteOf,
}: Readers<Credentials, Remote>) {
  const own = <Of extends Pick<LegToPublish, "credentials" | "remote">>(
    { credentials, remote, ...of }: Of,
    tools: NetworkTools,
  ) => ({ ...of, credentials: credentialsOf(credentials), remote: remoteOf(remote), tools });
  const legOf = (leg: LegToPublish, tools: NetworkTools) => own(leg, tools);
  const callOf = ({ leg, ...call }: FollowUp, tools: NetworkTools) => ({
    ...call,
    ...own(leg, tools),
  });
  return {
    publishing({ canTell, ...steps }: OwnCall<Credentials, Remote>): PublishCall {
      return {
        prepare: async (leg, tools) => steps.prepare(legOf(leg, tools)),
        perform: async (leg, tools) => steps.perform(legOf(leg, tools)),
        lookUp: async (leg, tools) => steps.lookUp(legOf(leg, tools)),
        ...(canTell && { canTell: ({ credentials }) => canTell(credentialsOf(credentials)) }),
      };
    },
    account<Outcome>(step: (as: AsAccount<Credentials>) => Promise<Outcome>) {
      return async (credentials: NetworkData, _instanceUrl: string | null, tools: NetworkTools) =>
        step({ credentials: credentialsOf(credentials), tools });
    },
    checked<Outcome>(step: (as: AsAccount<Credentials>) => Promise<Outcome>) {
      return async ({ credentials }: CheckedAccount, tools: NetworkTools) =>
        step({ credentials: credentialsOf(credentials), tools });
    },
    following({ perform, lookUp }: OwnSteps<Credentials, Remote>) {
      return {
        perform: async (call, tools) => perform(callOf(call, tools)),
        lookUp: async (call, tools) => lookUp(callOf(call, tools)),
      } satisfies FollowUpCall;
    },
  };
}
