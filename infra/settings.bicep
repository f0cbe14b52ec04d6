// What can be told to the app beyond what the template knows. Every setting of the app is either here, or set in
// `modules/function-app.bicep`, or never set in Azure; a test compares all three with the app's own list.

@export()
@description('Apps at the networks. Where the id is given, the secret beside it is read from the vault.')
@sealed()
type NetworkApps = {
  @description('Secret: facebook-app-secret')
  FACEBOOK_APP_ID: string?
  @description('Secret: instagram-app-secret')
  INSTAGRAM_APP_ID: string?
  @description('Secret: linkedin-client-secret')
  LINKEDIN_CLIENT_ID: string?
  @description('Secret: linkedin-org-client-secret')
  LINKEDIN_ORG_CLIENT_ID: string?
}

@export()
@description('Settings with a default of the app; docs/reference/settings.md says what each means.')
@sealed()
type Tuning = {
  SERVICE_NAME: string?
  SERVICE_URL: string?
  SUPPORT_URL: string?
  DASHBOARD_URL: string?
  @description('Secret: mail-url')
  MAIL_FROM: string?
  MEDIA_BYTES_MAX: string?
  MEDIA_PLATFORM_BYTES_MAX: string?
  LINK_CARD_USER_AGENT: string?
  STORAGE_PREFIX: string?
  BCRYPT_COST: string?
  OPERATOR_ISSUER: string?
  OPERATOR_JWKS_URL: string?
  RATE_LIMIT_PER_MINUTE: string?
  PLATFORM_RATE_PER_MINUTE: string?
  AUTH_RATE_PER_MINUTE: string?
  LOGIN_ATTEMPTS: string?
  ALLOW_DIRECT_USERS: string?
  SIGNUP_CREDIT_TOKENS: string?
  SIGNUPS_PER_ADDRESS_DAY: string?
  TRUSTED_PROXY_HOPS: string?
  BALANCE_LOW_TOKENS: string?
  LEG_RETRY_SECONDS: string?
  LEG_PACE_PER_SECOND: string?
  QUOTA_INSTAGRAM: string?
  QUOTA_LINKEDIN: string?
  QUOTA_FACEBOOK_REELS: string?
  FACEBOOK_LOGIN_CONFIG_ID: string?
  FACEBOOK_BUSINESS_MANAGEMENT: string?
  FACEBOOK_COMMENTS: string?
  INSTAGRAM_COMMENTS: string?
  LINKEDIN_COMMENTS: string?
  DUPLICATE_WINDOW_HOURS: string?
  GRAPH_VERSION: string?
  LINKEDIN_VERSION: string?
  NETWORK_TIMEOUT_MS: string?
  LEG_LEASE_SECONDS: string?
  WORK_CHECK_SECONDS: string?
  WEBHOOK_RETRY_SECONDS: string?
  WEBHOOK_TIMEOUT_MS: string?
  DAILY_WALKS_AT: string?
  LOG_LEVEL: string?
}
