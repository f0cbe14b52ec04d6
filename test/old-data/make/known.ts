/** What was never stored, or only as a hash, and is needed to use the dump; and the ids of what is in which state. */
export interface Known {
  /** The clock of whoever wrote the dump. */
  now: string;
  settings: Readonly<Record<string, string>>;
  readonly platforms: Record<string, string>;
  readonly applications: Record<string, string>;
  readonly profiles: Record<string, string>;
  readonly users: Record<
    string,
    {
      readonly email: string;
      readonly password: string;
      readonly formerPassword?: string;
      readonly totpSecret?: string;
      readonly usedRecoveryCode?: string;
      readonly recoveryCodes?: readonly string[];
    }
  >;
  readonly sessions: Record<string, string>;
  readonly keys: Record<string, { readonly id: string; readonly secret: string }>;
  readonly grants: Record<string, string>;
  readonly posts: Record<
    string,
    {
      readonly id: string;
      readonly profileId: string;
      readonly idempotencyKey: string;
      readonly body: Readonly<Record<string, unknown>>;
    }
  >;
  readonly webhooks: Record<
    string,
    { readonly id: string; readonly path: string; readonly secrets: readonly string[] }
  >;
  readonly connectSessions: Record<
    string,
    {
      readonly id: string;
      readonly url: string;
      readonly cookie?: string;
      readonly callback?: string;
    }
  >;
}

export function nothingKnown(): Known {
  return {
    now: "",
    settings: {},
    platforms: {},
    applications: {},
    profiles: {},
    users: {},
    sessions: {},
    keys: {},
    grants: {},
    posts: {},
    webhooks: {},
    connectSessions: {},
  };
}

/** The `data` of an answer that has to be a success; some have none. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers are read field by field
export function dataOf({ status, body }: { readonly status: number; readonly body: any }) {
  if (status >= 300) throw new Error(`unexpected ${status}: ${JSON.stringify(body)}`);
  return body?.data;
}
