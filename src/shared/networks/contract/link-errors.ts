/** What the end user is told when linking fails; the page has one message per code. */
export const LINK_ERRORS = [
  "wrong_credentials",
  "app_password_needed",
  "account_not_found",
  "account_restricted",
  "instance_unreachable",
  "instance_unsupported",
  "access_denied",
  "other_account",
  "permission_missing",
  "rate_limited",
  "network_unavailable",
  "account_kind_unsupported",
  "nothing_to_choose",
  "input_invalid",
] as const;
