using 'main.bicep'

// Many platforms: instances that never sleep, data in two regions, operators by Entra ID, all networks.
param environmentName = 'relay-large'
param location = 'westeurope'
param size = 'large'
param customDomain = 'relay.example.com'
param customDomainCertificate = 'relay-example-com'
param operatorTenantId = '00000000-0000-0000-0000-000000000000'
param operatorAudience = 'api://publishing-relay'
param alertEmails = ['operators@example.com', 'on-call@example.com']
param logRetentionDays = 365
param blueskyOAuth = true
param networkApps = {
  FACEBOOK_APP_ID: '120000000000001'
  INSTAGRAM_APP_ID: '130000000000001'
  LINKEDIN_CLIENT_ID: '86example0member'
  LINKEDIN_ORG_CLIENT_ID: '86example0orgapp'
}
param tuning = {
  RATE_LIMIT_PER_MINUTE: '1000'
  PLATFORM_RATE_PER_MINUTE: '10000'
}
