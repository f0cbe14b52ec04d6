import { integerSetting, matching, withDefault } from "../../runtime/setting.ts";
import { shape } from "../../runtime/shape.ts";
import { appSettings, commentsSetting, networkSettings, readApp } from "../contract/settings.ts";

/**
 * The permissions for comments
 * (https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api), the one to write first.
 * Only some apps have them, and an app that requests others can link nobody.
 */
export const COMMENT_SCOPES = {
  member: ["w_member_social_feed"],
  organization: ["w_organization_social_feed", "r_organization_social_feed"],
} as const;

const COMMENTS = Object.values(COMMENT_SCOPES).flat();

export const linkedinSettings = networkSettings(
  {
    QUOTA_LINKEDIN: withDefault(
      integerSetting(1, 10_000),
      "150",
      "Posts per LinkedIn account in 24 hours.",
    ),
    ...appSettings(
      "LINKEDIN_CLIENT",
      "The LinkedIn app with which members post. Without it, LinkedIn is not available.",
    ),
    ...appSettings(
      "LINKEDIN_ORG_CLIENT",
      "The app with LinkedIn's Community Management product. Without it, no company page can be linked.",
    ),
    LINKEDIN_COMMENTS: commentsSetting("LinkedIn", COMMENTS),
    LINKEDIN_VERSION: withDefault(
      shape(() => matching(/^20\d{2}(0[1-9]|1[0-2])$/, "must be a month such as 202609")),
      "202609",
      "Version of LinkedIn's API. Each is supported for at least a year.",
    ),
  },
  (values) => {
    const members = readApp("LINKEDIN_CLIENT", values);
    const organizations = readApp("LINKEDIN_ORG_CLIENT", values);
    const isAlone =
      values.LINKEDIN_ORG_CLIENT_ID !== undefined && values.LINKEDIN_CLIENT_ID === undefined;
    return {
      app: members.app && {
        ...members.app,
        version: values.LINKEDIN_VERSION,
        ...(values.LINKEDIN_COMMENTS ? { extraScopes: COMMENTS } : {}),
        ...(organizations.app === undefined ? {} : { organizations: organizations.app }),
      },
      quotas: { posts: values.QUOTA_LINKEDIN },
      problems: [
        ...members.problems,
        ...organizations.problems,
        ...(isAlone ? ["LINKEDIN_CLIENT_ID: must be given beside LINKEDIN_ORG_CLIENT_ID"] : []),
      ],
    };
  },
);
