import { NetworkApps, Tuning } from '../settings.bicep'

param name string
param planName string
param location string
param tags { *: string }
param identityName string
param identityClientId string
param hostStorageName string
param dataStorageName string
param mediaStorageName string
param deploymentContainer string
param insightsConnectionString string
param vaultName string

@allowed([512, 2048, 4096])
param memoryMB int

@minValue(1)
@maxValue(1000)
param instancesMax int

@description('Instances that never sleep, by group: `http` or `function:<name>`.')
param alwaysReady { name: string, instanceCount: int }[]
param requestsPerInstance int
@description('How long an idle queue is left alone at most; in place of what host.json says.')
param queuePollingInterval string
param customDomain string
param operatorTenantId string
param operatorAudience string
param allowSignup bool
param networkApps NetworkApps
param blueskyOAuth bool
param tuning Tuning
param previousSecrets string[]

@description('Network through whose subnet `app` calls leave. Empty: none.')
param networkName string

@description('Id of the Azure Front Door profile that alone may call the app. Empty: anybody may.')
param frontDoorId string

@description('Origins whose pages may call the app from a browser.')
param corsOrigins string[]

// References without a version: a new version of a secret is read within a day, or at once after a restart.
var referenceStart = '@Microsoft.KeyVault(SecretUri=https://${vaultName}${environment().suffixes.keyvaultDns}/secrets/'
var requiredSecrets = {
  SESSION_SECRET: 'session-secret'
  GRANT_SECRET: 'grant-secret'
  KEY_PEPPER: 'key-pepper'
  DATA_KEYS: 'data-keys'
}
var previousSecretNames = {
  KEY_PEPPER_PREVIOUS: 'key-pepper-previous'
  SESSION_SECRET_PREVIOUS: 'session-secret-previous'
  GRANT_SECRET_PREVIOUS: 'grant-secret-previous'
}
// An empty id is that of no app.
var givenApps = filter(items(networkApps), app => !empty(app.?value))
var apps = toObject(givenApps, app => app.key, app => app.?value)

var blueskySecret = blueskyOAuth ? { BLUESKY_OAUTH_KEY: 'bluesky-oauth-key' } : {}
var facebookSecret = contains(apps, 'FACEBOOK_APP_ID') ? { FACEBOOK_APP_SECRET: 'facebook-app-secret' } : {}
var instagramSecret = contains(apps, 'INSTAGRAM_APP_ID') ? { INSTAGRAM_APP_SECRET: 'instagram-app-secret' } : {}
var linkedinSecret = contains(apps, 'LINKEDIN_CLIENT_ID') ? { LINKEDIN_CLIENT_SECRET: 'linkedin-client-secret' } : {}
var linkedinOrgSecret = contains(apps, 'LINKEDIN_ORG_CLIENT_ID')
  ? { LINKEDIN_ORG_CLIENT_SECRET: 'linkedin-org-client-secret' }
  : {}

var mailSecret = contains(tuning, 'MAIL_FROM') ? { MAIL_URL: 'mail-url' } : {}

var secretNames = union(
  requiredSecrets,
  toObject(previousSecrets, setting => setting, setting => previousSecretNames[setting]),
  blueskySecret,
  facebookSecret,
  instagramSecret,
  linkedinSecret,
  linkedinOrgSecret,
  mailSecret
)
var secretSettings = mapValues(secretNames, secret => '${referenceStart}${secret})')

// What the host itself reads.
var hostSettings = {
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: identityClientId
  APPLICATIONINSIGHTS_CONNECTION_STRING: insightsConnectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
  // Three requests of 100 MB, the host's own limit, would take an instance down before the app sees their length.
  FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: '1048576'
  AzureFunctionsJobHost__extensions__queues__maxPollingInterval: queuePollingInterval
}

var appSettings = {
  AZURE_FUNCTIONS_ENVIRONMENT: 'Production'
  AzureWebJobsStorage__accountName: hostStorageName
  DATA_STORAGE__accountName: dataStorageName
  MEDIA_STORAGE__accountName: mediaStorageName
  AZURE_CLIENT_ID: identityClientId
  PUBLIC_BASE_URL: baseUrl
  ALLOW_SIGNUP: allowSignup ? 'true' : 'false'
}

var operatorSettings = empty(operatorAudience) ? {} : { OPERATOR_AUDIENCE: operatorAudience }
var tenantSettings = empty(operatorTenantId) ? {} : { ENTRA_TENANT_ID: operatorTenantId }

// What is known before a deployment is built from names, so that what-if can show it.
var identityId = resourceId('Microsoft.ManagedIdentity/userAssignedIdentities', identityName)
var packageUrl = 'https://${hostStorageName}.blob.${environment().suffixes.storage}/${deploymentContainer}'
var frontDoorOnly = [
  {
    name: 'front-door'
    priority: 100
    action: 'Allow'
    tag: 'ServiceTag'
    ipAddress: 'AzureFrontDoor.Backend'
    // The tag is that of every customer's front doors; the header is this one's.
    headers: { 'x-azure-fdid': [frontDoorId] }
  }
]

var baseUrl = 'https://${empty(customDomain) ? functionApp.properties.defaultHostName : customDomain}/api'

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true }
}

resource functionApp 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: tags
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: identityId
    virtualNetworkSubnetId: empty(networkName)
      ? null
      : resourceId('Microsoft.Network/virtualNetworks/subnets', networkName, 'app')
    outboundVnetRouting: empty(networkName) ? null : { allTraffic: true }
    // No ftpsState: Flex Consumption has no FTP, and refuses to be told.
    siteConfig: {
      minTlsVersion: '1.2'
      // Sessions are sent in a header that a script sets. A browser never adds credentials of its own.
      cors: { allowedOrigins: corsOrigins, supportCredentials: false }
      ipSecurityRestrictions: empty(frontDoorId) ? [] : frontDoorOnly
      ipSecurityRestrictionsDefaultAction: empty(frontDoorId) ? 'Allow' : 'Deny'
      // Deployments don't come through the front door.
      scmIpSecurityRestrictionsUseMain: false
      scmIpSecurityRestrictionsDefaultAction: 'Allow'
    }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: { name: 'node', version: '24' }
      scaleAndConcurrency: {
        maximumInstanceCount: instancesMax
        instanceMemoryMB: memoryMB
        alwaysReady: alwaysReady
        triggers: { http: { perInstanceConcurrency: requestsPerInstance } }
      }
    }
  }
}

resource settings 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: functionApp
  name: 'appsettings'
  properties: union(hostSettings, appSettings, operatorSettings, tenantSettings, secretSettings, apps, tuning)
}

resource ftp 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: functionApp
  name: 'ftp'
  properties: { allow: false }
}

resource scm 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: functionApp
  name: 'scm'
  properties: { allow: false }
}

output baseUrl string = baseUrl
