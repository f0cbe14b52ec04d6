using 'main.bicep'

// What `azd env set` sets: docs/operate/configure.md says what each means. Lists are separated by commas.
var alertEmailList = readEnvironmentVariable('RELAY_ALERT_EMAILS', '')
var deployerAddressList = readEnvironmentVariable('RELAY_DEPLOYER_ADDRESSES', '')
var corsOriginList = readEnvironmentVariable('RELAY_CORS_ORIGINS', '')
var corsOriginsGiven = empty(corsOriginList) ? [] : split(corsOriginList, ',')
var notOrigins = filter(
  corsOriginsGiven,
  origin => !startsWith(origin, 'https://') || length(split(origin, '/')) != 3 || contains(origin, '*')
)
var previousSecretList = readEnvironmentVariable('RELAY_PREVIOUS_SECRETS', '')
var domain = readEnvironmentVariable('RELAY_DOMAIN', '')
var frontDoor = readEnvironmentVariable('RELAY_FRONT_DOOR_ID', '')

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME')
param location = readEnvironmentVariable('AZURE_LOCATION')
param deployerPrincipalId = readEnvironmentVariable('AZURE_PRINCIPAL_ID', '')
param size = readEnvironmentVariable('RELAY_SIZE', 'small')
param instancesMax = int(readEnvironmentVariable('RELAY_INSTANCES_MAX', '0'))
param customDomain = domain
param customDomainCertificate = readEnvironmentVariable('RELAY_DOMAIN_CERTIFICATE', '')
param operatorTenantId = readEnvironmentVariable('RELAY_OPERATOR_TENANT_ID', '')
param operatorAudience = readEnvironmentVariable('RELAY_OPERATOR_AUDIENCE', '')
param allowSignup = bool(readEnvironmentVariable('RELAY_ALLOW_SIGNUP', 'false'))
param networkApps = {
  FACEBOOK_APP_ID: readEnvironmentVariable('RELAY_FACEBOOK_APP_ID', '')
  INSTAGRAM_APP_ID: readEnvironmentVariable('RELAY_INSTAGRAM_APP_ID', '')
  LINKEDIN_CLIENT_ID: readEnvironmentVariable('RELAY_LINKEDIN_CLIENT_ID', '')
  LINKEDIN_ORG_CLIENT_ID: readEnvironmentVariable('RELAY_LINKEDIN_ORG_CLIENT_ID', '')
}
param blueskyOAuth = bool(readEnvironmentVariable('RELAY_BLUESKY_OAUTH', 'false'))
param tuning = json(readEnvironmentVariable('RELAY_TUNING', '{}'))
param previousSecrets = empty(previousSecretList) ? [] : json('["${replace(previousSecretList, ',', '","')}"]')
param alertEmails = empty(alertEmailList) ? [] : split(alertEmailList, ',')
param network = readEnvironmentVariable('RELAY_NETWORK', 'public')
param deployerAddresses = empty(deployerAddressList) ? [] : split(deployerAddressList, ',')
// Nobody could reach the app under its own address, which customers and the health check would be given.
param frontDoorId = empty(frontDoor) || !empty(domain) ? frontDoor : fail('RELAY_FRONT_DOOR_ID needs RELAY_DOMAIN')
// Azure compares texts: a slash at the end would match no page, and * would let every site in.
param corsOrigins = empty(notOrigins)
  ? corsOriginsGiven
  : fail('RELAY_CORS_ORIGINS accepts origins such as https://dashboard.example.com, not ${join(notOrigins, ', ')}')
param assignRoles = bool(readEnvironmentVariable('RELAY_ASSIGN_ROLES', 'true'))
param logRetentionDays = int(readEnvironmentVariable('RELAY_LOG_RETENTION_DAYS', '90'))
param lockData = bool(readEnvironmentVariable('RELAY_LOCK_DATA', 'true'))
param mediaGigabytesMax = int(readEnvironmentVariable('RELAY_MEDIA_GIGABYTES_MAX', '1000'))
