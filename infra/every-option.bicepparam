using 'main.bicep'

// Every parameter and every setting that there is, for the tests: nobody deploys it.
param environmentName = 'relay-every-option'
param location = 'westeurope'
param size = 'large'
param instancesMax = 40
param deployerPrincipalId = '11111111-1111-1111-1111-111111111111'
param customDomain = 'relay.example.com'
param customDomainCertificate = 'relay-example-com'
param operatorTenantId = '00000000-0000-0000-0000-000000000000'
param operatorAudience = 'api://publishing-relay'
param allowSignup = true
param networkApps = {
  FACEBOOK_APP_ID: '120000000000001'
  INSTAGRAM_APP_ID: '130000000000001'
  LINKEDIN_CLIENT_ID: '86example0member'
  LINKEDIN_ORG_CLIENT_ID: '86example0orgapp'
}
param blueskyOAuth = true
param tuning = {
  SERVICE_NAME: 'tuned'
  SERVICE_URL: 'tuned'
  SUPPORT_URL: 'tuned'
  DASHBOARD_URL: 'tuned'
  MAIL_FROM: 'tuned'
  MEDIA_BYTES_MAX: 'tuned'
  MEDIA_PLATFORM_BYTES_MAX: 'tuned'
  LINK_CARD_USER_AGENT: 'tuned'
  STORAGE_PREFIX: 'tuned'
  BCRYPT_COST: 'tuned'
  OPERATOR_ISSUER: 'tuned'
  OPERATOR_JWKS_URL: 'tuned'
  RATE_LIMIT_PER_MINUTE: 'tuned'
  PLATFORM_RATE_PER_MINUTE: 'tuned'
  AUTH_RATE_PER_MINUTE: 'tuned'
  LOGIN_ATTEMPTS: 'tuned'
  ALLOW_DIRECT_USERS: 'tuned'
  SIGNUP_CREDIT_TOKENS: 'tuned'
  SIGNUPS_PER_ADDRESS_DAY: 'tuned'
  TRUSTED_PROXY_HOPS: 'tuned'
  BALANCE_LOW_TOKENS: 'tuned'
  LEG_RETRY_SECONDS: 'tuned'
  LEG_PACE_PER_SECOND: 'tuned'
  QUOTA_INSTAGRAM: 'tuned'
  QUOTA_LINKEDIN: 'tuned'
  QUOTA_FACEBOOK_REELS: 'tuned'
  FACEBOOK_LOGIN_CONFIG_ID: 'tuned'
  FACEBOOK_BUSINESS_MANAGEMENT: 'tuned'
  FACEBOOK_COMMENTS: 'tuned'
  INSTAGRAM_COMMENTS: 'tuned'
  LINKEDIN_COMMENTS: 'tuned'
  DUPLICATE_WINDOW_HOURS: 'tuned'
  GRAPH_VERSION: 'tuned'
  LINKEDIN_VERSION: 'tuned'
  NETWORK_TIMEOUT_MS: 'tuned'
  LEG_LEASE_SECONDS: 'tuned'
  WORK_CHECK_SECONDS: 'tuned'
  WEBHOOK_RETRY_SECONDS: 'tuned'
  WEBHOOK_TIMEOUT_MS: 'tuned'
  DAILY_WALKS_AT: 'tuned'
  LOG_LEVEL: 'tuned'
}
param previousSecrets = ['KEY_PEPPER_PREVIOUS', 'SESSION_SECRET_PREVIOUS', 'GRANT_SECRET_PREVIOUS']
param alertEmails = ['operators@example.com']
param network = 'private'
param deployerAddresses = ['203.0.113.7']
param frontDoorId = '22222222-2222-2222-2222-222222222222'
param corsOrigins = ['https://dashboard.example.com', 'https://staging.example.com:8443']
param assignRoles = true
param logRetentionDays = 30
param lockData = true
param mediaGigabytesMax = 250
