import * as z from "zod";
import { MEDIA_REASONS, refusalError, repairWarning } from "../../networks/contract/media-check.ts";
import { MEDIA_REPAIRS, type FileTarget } from "../../networks/contract/media.ts";
import { COMMON_RULES, type Rule } from "../../networks/contract/rules.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { findAvailable, networkOf, type NetworkName } from "../../networks/networks.ts";
import { inWords } from "../../networks/wording.ts";
import { count } from "../../runtime/fields.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { findingCode } from "../../networks/answer-schema.ts";
import type { PublishingDeps } from "../deps.ts";

const UNITS = {
  graphemes: "graphemes",
  "UTF-16 units": "utf16",
  characters: "characters",
  bytes: "bytes",
} as const;

const fileLimits = shape(() => ({
  types: z
    .array(z.string())
    .nullable()
    .describe("The types that it accepts. Null if it accepts any type of this kind."),
  bytesMax: count().nullable().describe("Null if only the network knows it."),
}));

const networkLimits = shape(() =>
  z.strictObject({
    maxCharacters: count(),
    unit: z
      .enum(["graphemes", "utf16", "characters", "bytes"])
      .describe(
        "What the network counts: characters as readers see them, UTF-16 code units, Unicode characters, or bytes.",
      ),
    maxMedia: count().describe("Files in a post. Some kinds allow fewer; see `rules`."),
    image: z
      .strictObject(fileLimits())
      .describe("Larger images and other types are converted if possible."),
    video: z
      .strictObject({ ...fileLimits(), secondsMax: count().nullable() })
      .nullable()
      .describe("Null if it accepts none."),
  }),
);

const networkRule = shape(() =>
  z.strictObject({
    id: z.string().describe("`rule` of findings and of a leg's error."),
    severity: z.enum(["error", "warning"]),
    code: findingCode(),
    message: z.string().describe("`{used}` stands for a number that depends on the post."),
    remediation: z.string(),
    developerHint: z
      .string()
      .nullable()
      .describe("For the developer of the calling program. Often null."),
  }),
);

const networkDescription = shape(() =>
  z
    .strictObject({
      name: z.string().describe("The name to show to people."),
      configured: z
        .boolean()
        .describe("Whether accounts can be linked. If not, the relay has no app for the network."),
      fields: z.array(z.string()).describe("The fields of `platformOptions.<network>`."),
      limits: networkLimits().describe(
        "For an account about which nothing else is known. The `limits` of a connection are those of its account and server.",
      ),
      rules: z.array(networkRule()),
    })
    .meta({ id: "NetworkDescription", description: "What a network accepts." }),
);
type NetworkDescription = ShapeOf<typeof networkDescription>;

export const networkDescriptions = shape(() =>
  z
    .strictObject(
      // Safe: the names are exactly those of all networks.
      Object.fromEntries(NETWORK_NAMES.map((name) => [name, networkDescription()])) as Record<
        NetworkName,
        ReturnType<typeof networkDescription>
      >,
    )
    .meta({ id: "NetworkDescriptions" }),
);

/** A draft of nothing, of which a network tells its limits. */
const EMPTY = { text: "", media: [], options: {} };

const limitsOfFile = ({ types, bytesMax }: FileTarget) => ({
  types: types === undefined ? null : [...types],
  bytesMax: bytesMax ?? null,
});

/** Returns the rules of a network's own table, and those that every network has. */
function rulesOf(name: NetworkName): NetworkDescription["rules"] {
  const nowhere = { field: null, mediaIndex: null };
  const found = new Map<string, Pick<Rule, "severity" | "code" | "limit">>([
    ...Object.entries(COMMON_RULES).map(([id, rule]) => [`${name}.${id}`, rule] as const),
    ...[
      ...MEDIA_REASONS.map((reason) => refusalError({ name }, reason, nowhere)),
      ...MEDIA_REPAIRS.map((repair) => repairWarning(name, repair, nowhere)),
    ].map((problem) => [problem.rule, problem] as const),
    ...Object.entries<Rule>(networkOf(name).rules ?? {}),
  ]);
  return [...found].map(([id, { severity, code, limit }]) => {
    // What is counted is known once there is a post.
    const values = { used: "{used}", ...(limit !== undefined && { limit }) };
    const words = inWords({ code, rule: id, values, field: null }, { network: name, locale: "en" });
    const { message, remediation, developerHint } = words;
    return { id, severity, code, message, remediation, developerHint };
  });
}

/** Every caller gets the same rules, so they are worded once: anybody may ask, without a credential. */
const RULES = shape(() => new Map(NETWORK_NAMES.map((name) => [name, rulesOf(name)])));

/** Describes what each network accepts, from the tables by which posts are checked. */
export function getNetworks({
  config,
}: Pick<PublishingDeps, "config">): Record<NetworkName, NetworkDescription> {
  const described = NETWORK_NAMES.map((name): [NetworkName, NetworkDescription] => {
    const network = networkOf(name);
    const { maxCharacters } = network.measure(EMPTY, {});
    const rules: Readonly<Record<string, Rule>> = network.rules ?? {};
    const ofText = Object.entries(rules).find(
      ([id, { code, limit }]) =>
        id.startsWith(`${name}.text.`) && code === "text_too_long" && limit === maxCharacters,
    );
    const unit = Object.entries(UNITS).find(([known]) => known === ofText?.[1].unit)?.[1];
    const targets = network.media?.(EMPTY, {});
    const { options } = network;
    // Safe: every network makes its options of an object's fields.
    const fields = Object.keys((options() as unknown as z.ZodObject).shape);
    const limits = {
      maxCharacters,
      unit: unit ?? "characters",
      maxMedia: rules[`${name}.media.count`]?.limit ?? 0,
      image: limitsOfFile(targets?.image ?? {}),
      video: targets?.video
        ? { ...limitsOfFile(targets.video), secondsMax: targets.video.secondsMax ?? null }
        : null,
    };
    const configured = findAvailable(name, config.networkApps) !== undefined;
    return [
      name,
      { name: network.title, configured, fields, limits, rules: RULES().get(name) ?? [] },
    ];
  });
  // Safe: the names are exactly those of all networks.
  return Object.fromEntries(described) as Record<NetworkName, NetworkDescription>;
}

const exampleOf = (name: NetworkName): NetworkDescription => ({
  name: networkOf(name).title,
  configured: true,
  fields: ["text", "mediaUrls", "altTexts", "langs"],
  limits: {
    maxCharacters: 300,
    unit: "graphemes",
    maxMedia: 10,
    image: { types: ["image/jpeg", "image/png"], bytesMax: 2_000_000 },
    video: { types: ["video/mp4"], bytesMax: 300_000_000, secondsMax: 600 },
  },
  rules: [
    {
      id: `${name}.text.graphemes`,
      severity: "error",
      code: "text_too_long",
      message: "The text has {used} characters; 300 are allowed.",
      remediation: "Shorten the text.",
      developerHint: null,
    },
  ],
});

export const networksExample = (): Record<NetworkName, NetworkDescription> =>
  // Safe: the names are exactly those of all networks.
  Object.fromEntries(NETWORK_NAMES.map((name) => [name, exampleOf(name)] as const)) as Record<
    NetworkName,
    NetworkDescription
  >;
