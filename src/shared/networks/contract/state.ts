import type * as z from "zod";
import type { NetworkData } from "./draft.ts";
import { objectShape } from "./fields.ts";
import type { CheckedAccount } from "./network.ts";
import type { Finding, Outcome, PrepareOutcome } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";
import type { FollowUp, LegToPublish, PublishCall, VisibleCall } from "./visible-call.ts";

/** Makes the reader of what a network once wrote about a leg or an account. Anything else is a defect and throws. */
export function readerOf<Fields extends z.ZodRawShape>(fields: () => Fields) {
  const form = objectShape(fields);
  return (data: NetworkData) => form().parse(data);
}

/** The arguments of a network's steps: its own data as its readers return them, and the tools. */
type OwnArguments<Of, Credentials, Remote> = Omit<Of, "credentials" | "remote"> & {
  readonly credentials: Credentials;
  readonly remote: Remote;
  readonly tools: NetworkTools;
};

/** A leg as the steps of its network see it. */
export type OwnLeg<Credentials, Remote> = OwnArguments<LegToPublish, Credentials, Remote>;

/** A call that follows a post, with the data of the post's leg. */
export type OwnFollowUp<Credentials, Remote> = OwnArguments<FollowUp, Credentials, Remote>;

/** The account for which something is requested. */
type AsAccount<Credentials> = Pick<OwnLeg<Credentials, unknown>, "credentials" | "tools">;

/** A visible call in terms of its network's own data. `canTell` gets no tools. */
interface OwnCall<Of> {
  readonly prepare?: (own: Of) => Promise<PrepareOutcome>;
  readonly perform: (own: Of) => Promise<Outcome>;
  readonly find: (own: Of) => Promise<Finding>;
  readonly canTell?: (own: Omit<Of, "tools">) => boolean;
}

export type OwnFollowUpCall<Credentials, Remote> = OwnCall<OwnFollowUp<Credentials, Remote>>;

/** A call that prepares something before its effect is seen. */
interface WithPrepare {
  readonly prepare: (own: never) => Promise<PrepareOutcome>;
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
  const own = <Of extends Pick<LegToPublish, "credentials" | "remote">>({
    credentials,
    remote,
    ...of
  }: Of) => ({ ...of, credentials: credentialsOf(credentials), remote: remoteOf(remote) });
  const visible = <Of extends LegToPublish | FollowUp>(
    call: OwnCall<OwnArguments<Of, Credentials, Remote>>,
  ): VisibleCall<Of> => {
    // Safe: without the two that are replaced, it has what the input has.
    const ownOf = (input: Of) =>
      own(input) as unknown as Omit<OwnArguments<Of, Credentials, Remote>, "tools">;
    const step =
      <Result>(run: (input: OwnArguments<Of, Credentials, Remote>) => Promise<Result>) =>
      async (input: Of, tools: NetworkTools) =>
        run({ ...ownOf(input), tools } as OwnArguments<Of, Credentials, Remote>);
    const { prepare, perform, find, canTell } = call;
    return {
      ...(prepare && { prepare: step(prepare) }),
      perform: step(perform),
      find: step(find),
      ...(canTell && { canTell: (input: Of) => canTell(ownOf(input)) }),
    };
  };
  return {
    publishing: (call: OwnCall<OwnLeg<Credentials, Remote>> & WithPrepare): PublishCall =>
      // Safe: it has the steps that it is given.
      visible<LegToPublish>(call) as PublishCall,
    following: visible<FollowUp>,
    account<Result>(step: (as: AsAccount<Credentials>) => Promise<Result>) {
      return async (credentials: NetworkData, _instanceUrl: string | null, tools: NetworkTools) =>
        step({ credentials: credentialsOf(credentials), tools });
    },
    checked<Result>(step: (as: AsAccount<Credentials>) => Promise<Result>) {
      return async ({ credentials }: CheckedAccount, tools: NetworkTools) =>
        step({ credentials: credentialsOf(credentials), tools });
    },
  };
}
