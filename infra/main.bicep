targetScope = 'subscription'

import { NetworkApps, Tuning } from 'settings.bicep'

@description('Name of the environment; names of resources derive from it.')
@minLength(1)
@maxLength(32)
param environmentName string

@description('Region of every resource.')
param location string

@description('How much the deployment can carry; see `sizes`.')
@allowed(['small', 'large'])
param size string = 'small'

@description('Object id of whoever deploys: may write secrets. Empty: nobody gets that right here.')
param deployerPrincipalId string = ''

@description('Address under which customers know the service, e.g. relay.example.com. Empty: the one of the function app.')
param customDomain string = ''

@description('Name of the Key Vault certificate of the custom domain. Empty: the domain is bound elsewhere.')
param customDomainCertificate string = ''

@description('Tenant of the operators; empty: nobody is an operator.')
param operatorTenantId string = ''

@description('Audience of operator tokens: client id or URI of the API registration.')
param operatorAudience string = ''

@description('Whether anybody may create a platform.')
param allowSignup bool = false

@description('Ids of the apps at the networks. Their secrets are in the vault, under the names in `settings.bicep`.')
param networkApps NetworkApps = {}

@description('Whether Bluesky accounts are linked by OAuth: needs the secret bluesky-oauth-key.')
param blueskyOAuth bool = false

@description('Settings that have a default in the app, where another value is wanted.')
param tuning Tuning = {}

@description('Secrets whose previous value is still to be accepted, while they are rotated.')
param previousSecrets ('KEY_PEPPER_PREVIOUS' | 'SESSION_SECRET_PREVIOUS' | 'GRANT_SECRET_PREVIOUS')[] = []

@description('Mail addresses that alerts go to.')
param alertEmails string[] = []

@description('Days that logs are kept. Lines of the audit are among them.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 90

@description('A CanNotDelete lock on the data: tables have no soft delete.')
param lockData bool = true

var sizes = {
  small: {
    memoryMB: 2048
    instancesMax: 40
    alwaysReady: []
    requestsPerInstance: 32
    storageSku: 'Standard_ZRS'
  }
  large: {
    memoryMB: 2048
    instancesMax: 400
    alwaysReady: [
      { name: 'http', instanceCount: 3 }
      { name: 'function:publish-legs', instanceCount: 2 }
      { name: 'function:deliver-webhooks', instanceCount: 1 }
    ]
    requestsPerInstance: 64
    storageSku: 'Standard_GZRS'
  }
}

var tags = { 'azd-env-name': environmentName }
var token = toLower(uniqueString(subscription().id, environmentName, location))
var names = {
  resourceGroup: 'rg-${environmentName}'
  identity: 'id-relay-${token}'
  hostStorage: 'sthost${token}'
  dataStorage: 'stdata${token}'
  vault: 'kv-${token}'
  logs: 'log-${token}'
  insights: 'appi-${token}'
  plan: 'plan-${token}'
  functionApp: 'func-relay-${token}'
}
var deploymentContainer = 'deployments'

resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
  name: names.resourceGroup
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  scope: group
  params: {
    name: names.identity
    location: location
    tags: tags
  }
}

// Blobs: leases of timers and the package. Queues: all work. Tables: what the host notes about itself.
module hostStorage 'modules/storage-account.bicep' = {
  scope: group
  params: {
    name: names.hostStorage
    location: location
    tags: tags
    sku: 'Standard_ZRS'
    principalId: identity.outputs.principalId
    roles: ['blobOwner', 'queueContributor', 'tableContributor']
    containers: [deploymentContainer]
    isLocked: false
  }
}

module dataStorage 'modules/storage-account.bicep' = {
  scope: group
  params: {
    name: names.dataStorage
    location: location
    tags: tags
    sku: sizes[size].storageSku
    principalId: identity.outputs.principalId
    roles: ['tableContributor']
    containers: []
    isLocked: lockData
  }
}

module monitoring 'modules/monitoring.bicep' = {
  scope: group
  params: {
    logsName: names.logs
    insightsName: names.insights
    location: location
    tags: tags
    retentionDays: logRetentionDays
    principalId: identity.outputs.principalId
  }
}

module vault 'modules/key-vault.bicep' = {
  scope: group
  params: {
    name: names.vault
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    deployerPrincipalId: deployerPrincipalId
    logsId: monitoring.outputs.logsId
  }
}

module functionApp 'modules/function-app.bicep' = {
  scope: group
  params: {
    name: names.functionApp
    planName: names.plan
    location: location
    tags: union(tags, { 'azd-service-name': 'relay' })
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    hostStorageName: hostStorage.outputs.name
    dataStorageName: dataStorage.outputs.name
    deploymentContainerUrl: '${hostStorage.outputs.blobEndpoint}${deploymentContainer}'
    insightsConnectionString: monitoring.outputs.insightsConnectionString
    vaultUri: vault.outputs.uri
    memoryMB: sizes[size].memoryMB
    instancesMax: sizes[size].instancesMax
    alwaysReady: sizes[size].alwaysReady
    requestsPerInstance: sizes[size].requestsPerInstance
    customDomain: customDomain
    operatorTenantId: operatorTenantId
    operatorAudience: operatorAudience
    allowSignup: allowSignup
    networkApps: networkApps
    blueskyOAuth: blueskyOAuth
    tuning: tuning
    previousSecrets: previousSecrets
  }
}

module domain 'modules/custom-domain.bicep' = if (!empty(customDomain) && !empty(customDomainCertificate)) {
  scope: group
  params: {
    location: location
    tags: tags
    functionAppName: functionApp.outputs.name
    planId: functionApp.outputs.planId
    hostName: customDomain
    vaultId: vault.outputs.id
    certificateName: customDomainCertificate
  }
}

module alerts 'modules/alerts.bicep' = {
  scope: group
  params: {
    location: location
    tags: tags
    insightsId: monitoring.outputs.insightsId
    storageIds: [hostStorage.outputs.id, dataStorage.outputs.id]
    healthUrl: '${functionApp.outputs.baseUrl}/health'
    emails: alertEmails
  }
}

module workbook 'modules/workbook.bicep' = {
  scope: group
  params: {
    location: location
    tags: tags
    insightsId: monitoring.outputs.insightsId
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_FUNCTION_APP_NAME string = functionApp.outputs.name
output AZURE_KEY_VAULT_NAME string = vault.outputs.name
output AZURE_DATA_STORAGE_NAME string = dataStorage.outputs.name
output RELAY_BLUESKY_OAUTH bool = blueskyOAuth
output RELAY_BASE_URL string = functionApp.outputs.baseUrl
