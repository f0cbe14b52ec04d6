import { NetworkApps, Tuning } from '../settings.bicep'

param name string
param planName string
param location string
param tags object
param identityId string
param identityClientId string
param hostStorageName string
param dataStorageName string
param deploymentContainerUrl string
param insightsConnectionString string
param vaultUri string

@allowed([512, 2048, 4096])
param memoryMB int

@minValue(1)
@maxValue(1000)
param instancesMax int

@description('Instances that never sleep, by group: `http` or `function:<name>`.')
param alwaysReady { name: string, instanceCount: int }[]
param requestsPerInstance int
param customDomain string
param operatorTenantId string
param operatorAudience string
param allowSignup bool
param networkApps NetworkApps
param blueskyOAuth bool
param tuning Tuning
param previousSecrets string[]

// References without a version: a new version of a secret is read within a day, or at once after a restart.
var referenceStart = '@Microsoft.KeyVault(SecretUri=${vaultUri}secrets/'
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
var blueskySecret = blueskyOAuth ? { BLUESKY_OAUTH_KEY: 'bluesky-oauth-key' } : {}
var facebookSecret = contains(networkApps, 'FACEBOOK_APP_ID') ? { FACEBOOK_APP_SECRET: 'facebook-app-secret' } : {}
var instagramSecret = contains(networkApps, 'INSTAGRAM_APP_ID') ? { INSTAGRAM_APP_SECRET: 'instagram-app-secret' } : {}
var linkedinSecret = contains(networkApps, 'LINKEDIN_CLIENT_ID') ? { LINKEDIN_CLIENT_SECRET: 'linkedin-client-secret' } : {}
var linkedinOrgSecret = contains(networkApps, 'LINKEDIN_ORG_CLIENT_ID') ? { LINKEDIN_ORG_CLIENT_SECRET: 'linkedin-org-client-secret' } : {}

var secretNames = union(
  requiredSecrets,
  toObject(previousSecrets, setting => setting, setting => previousSecretNames[setting]),
  blueskySecret,
  facebookSecret,
  instagramSecret,
  linkedinSecret,
  linkedinOrgSecret
)
var secretSettings = mapValues(secretNames, secret => '${referenceStart}${secret})')

// What the host itself reads.
var hostSettings = {
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: identityClientId
  APPLICATIONINSIGHTS_CONNECTION_STRING: insightsConnectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
}

var appSettings = {
  AZURE_FUNCTIONS_ENVIRONMENT: 'Production'
  AzureWebJobsStorage__accountName: hostStorageName
  DATA_STORAGE__accountName: dataStorageName
  AZURE_CLIENT_ID: identityClientId
  PUBLIC_BASE_URL: baseUrl
  ALLOW_SIGNUP: allowSignup ? 'true' : 'false'
}

var operatorSettings = empty(operatorAudience) ? {} : { OPERATOR_AUDIENCE: operatorAudience }
var tenantSettings = empty(operatorTenantId) ? {} : { ENTRA_TENANT_ID: operatorTenantId }

var baseUrl = 'https://${empty(customDomain) ? functionApp.properties.defaultHostName : customDomain}/api'

resource plan 'Microsoft.Web/serverfarms@2024-04-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true }
}

resource functionApp 'Microsoft.Web/sites@2024-04-01' = {
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
    siteConfig: {
      minTlsVersion: '1.2'
      ftpsState: 'Disabled'
    }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: deploymentContainerUrl
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

resource settings 'Microsoft.Web/sites/config@2024-04-01' = {
  parent: functionApp
  name: 'appsettings'
  properties: union(hostSettings, appSettings, operatorSettings, tenantSettings, secretSettings, networkApps, tuning)
}

resource ftp 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = {
  parent: functionApp
  name: 'ftp'
  properties: { allow: false }
}

resource scm 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = {
  parent: functionApp
  name: 'scm'
  properties: { allow: false }
}

output name string = functionApp.name
output planId string = plan.id
output baseUrl string = baseUrl
