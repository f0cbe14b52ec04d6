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

@description('Instances at most. 0: what the size says.')
@minValue(0)
@maxValue(1000)
param instancesMax int = 0

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

@description('How the app reaches others: by addresses of the platform, by one of its own, or with its accounts closed to the internet as well.')
@allowed(['public', 'egress', 'private'])
param network string = 'public'

@description('Addresses or ranges, e.g. 203.0.113.7, from which secrets may be written when the network is private.')
param deployerAddresses string[] = []

@description('Id (not resource id) of the Azure Front Door profile that alone may call the app. Empty: anybody may.')
param frontDoorId string = ''

@description('Origins, e.g. https://dashboard.example.com, whose pages may call the API from a browser. Empty: none.')
param corsOrigins string[] = []

@description('Whether the roles of the app are assigned here. False where somebody else does that.')
param assignRoles bool = true

@description('Days that logs are kept. Lines of the audit are among them.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 90

@description('A CanNotDelete lock on the data and the files of customers: neither has soft delete.')
param lockData bool = true

@description('Gigabytes of files of customers above which an alert is raised.')
@minValue(1)
param mediaGigabytesMax int = 1000

// A region gives a subscription 512,000 MB for all its Flex Consumption apps unless it is asked for more: enough for one
// large and one small deployment.
var sizes = {
  small: {
    memoryMB: 2048
    instancesMax: 40
    alwaysReady: []
    requestsPerInstance: 32
    // An instance that has nothing to do asks each queue every two seconds, and ten times a second while there is work.
    queuePollingInterval: '00:00:02'
    storageSku: 'Standard_ZRS'
  }
  large: {
    memoryMB: 2048
    instancesMax: 200
    alwaysReady: [
      { name: 'http', instanceCount: 3 }
      { name: 'function:publishing', instanceCount: 2 }
      { name: 'function:webhooks', instanceCount: 1 }
    ]
    requestsPerInstance: 64
    queuePollingInterval: '00:00:00.100'
    storageSku: 'Standard_GZRS'
  }
}

// The app knows the addresses of the public cloud alone, for storage and for the keys of the operators' tokens.
var isPublicCloud = environment().name == 'AzureCloud'
var cloudLocation = isPublicCloud
  ? location
  : fail('The relay runs in the public Azure cloud only, not in ${environment().name}.')

var tags = { 'azd-env-name': environmentName }
var token = toLower(uniqueString(subscription().id, environmentName, location))
var names = {
  resourceGroup: 'rg-${environmentName}'
  identity: 'id-relay-${token}'
  hostStorage: 'sthost${token}'
  dataStorage: 'stdata${token}'
  mediaStorage: 'stmedia${token}'
  vault: 'kv-${token}'
  logs: 'log-${token}'
  insights: 'appi-${token}'
  plan: 'plan-${token}'
  functionApp: 'func-relay-${token}'
  network: 'vnet-relay-${token}'
}
var deploymentContainer = 'deployments'
var mediaContainer = 'media'
var isPrivate = network == 'private'
var queues = map(loadJsonContent('queues.json'), queue => '${tuning.?STORAGE_PREFIX ?? ''}${queue}')

// A front door notes the caller's address, and the app's own front end that of the front door.
var tuned = union(empty(frontDoorId) ? {} : { TRUSTED_PROXY_HOPS: '2' }, tuning)

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: names.resourceGroup
  location: cloudLocation
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
    identityName: names.identity
    principalId: identity.outputs.principalId
    assignRoles: assignRoles
    roles: ['blobOwner', 'queueContributor', 'tableContributor']
    containers: [deploymentContainer]
    queues: queues
    softDeleteDays: 7
    isLocked: false
    isPrivate: isPrivate
  }
}

module dataStorage 'modules/storage-account.bicep' = {
  scope: group
  params: {
    name: names.dataStorage
    location: location
    tags: tags
    sku: sizes[size].storageSku
    identityName: names.identity
    principalId: identity.outputs.principalId
    assignRoles: assignRoles
    roles: ['tableContributor']
    containers: []
    queues: []
    softDeleteDays: 7
    isLocked: lockData
    isPrivate: isPrivate
  }
}

// Files of customers. Browsers upload to it and networks fetch from it by signed addresses, so it is never private;
// nothing in it can be read without one. What is deleted is gone, as customers were told.
module mediaStorage 'modules/storage-account.bicep' = {
  scope: group
  params: {
    name: names.mediaStorage
    location: location
    tags: tags
    sku: 'Standard_LRS'
    identityName: names.identity
    principalId: identity.outputs.principalId
    assignRoles: assignRoles
    roles: ['blobContributor']
    containers: [mediaContainer]
    queues: []
    softDeleteDays: 0
    uploadsFrom: ['*']
    // A file is kept for 373 days at most; this removes what a crash left behind.
    blobDaysMax: 380
    isLocked: lockData
    isPrivate: false
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
    identityName: names.identity
    principalId: identity.outputs.principalId
    assignRoles: assignRoles
  }
}

module vault 'modules/key-vault.bicep' = {
  scope: group
  params: {
    name: names.vault
    location: location
    tags: tags
    identityName: names.identity
    principalId: identity.outputs.principalId
    assignRoles: assignRoles
    deployerPrincipalId: deployerPrincipalId
    logsName: names.logs
    isPrivate: isPrivate
    deployerAddresses: deployerAddresses
  }
  dependsOn: [monitoring]
}

module egress 'modules/network.bicep' = if (network != 'public') {
  scope: group
  params: {
    name: names.network
    location: location
    tags: tags
    endpoints: isPrivate
      ? [
          { account: names.hostStorage, type: 'Microsoft.Storage/storageAccounts', service: 'blob' }
          { account: names.hostStorage, type: 'Microsoft.Storage/storageAccounts', service: 'queue' }
          { account: names.hostStorage, type: 'Microsoft.Storage/storageAccounts', service: 'table' }
          { account: names.dataStorage, type: 'Microsoft.Storage/storageAccounts', service: 'table' }
          { account: names.vault, type: 'Microsoft.KeyVault/vaults', service: 'vault' }
        ]
      : []
  }
  dependsOn: [hostStorage, dataStorage, vault]
}

module functionApp 'modules/function-app.bicep' = {
  scope: group
  params: {
    name: names.functionApp
    planName: names.plan
    location: location
    tags: union(tags, { 'azd-service-name': 'relay' })
    identityName: names.identity
    identityClientId: identity.outputs.clientId
    hostStorageName: names.hostStorage
    dataStorageName: names.dataStorage
    mediaStorageName: names.mediaStorage
    deploymentContainer: deploymentContainer
    insightsConnectionString: monitoring.outputs.insightsConnectionString
    vaultName: names.vault
    memoryMB: sizes[size].memoryMB
    instancesMax: instancesMax == 0 ? sizes[size].instancesMax : instancesMax
    alwaysReady: sizes[size].alwaysReady
    requestsPerInstance: sizes[size].requestsPerInstance
    queuePollingInterval: sizes[size].queuePollingInterval
    customDomain: customDomain
    operatorTenantId: operatorTenantId
    operatorAudience: operatorAudience
    allowSignup: allowSignup
    networkApps: networkApps
    blueskyOAuth: blueskyOAuth
    tuning: tuned
    previousSecrets: previousSecrets
    networkName: network == 'public' ? '' : names.network
    frontDoorId: frontDoorId
    corsOrigins: corsOrigins
  }
  // Its roles, secrets and network are there before it starts.
  dependsOn: [hostStorage, dataStorage, mediaStorage, vault, egress]
}

module domain 'modules/custom-domain.bicep' = if (!empty(customDomain) && !empty(customDomainCertificate)) {
  scope: group
  params: {
    location: location
    tags: tags
    functionAppName: names.functionApp
    planName: names.plan
    hostName: customDomain
    vaultName: names.vault
    certificateName: customDomainCertificate
  }
  dependsOn: [functionApp]
}

module alerts 'modules/alerts.bicep' = {
  scope: group
  params: {
    location: location
    tags: tags
    insightsName: names.insights
    storageNames: [names.hostStorage, names.dataStorage, names.mediaStorage]
    mediaStorageName: names.mediaStorage
    mediaGigabytesMax: mediaGigabytesMax
    healthUrl: '${functionApp.outputs.baseUrl}/health'
    emails: alertEmails
  }
  dependsOn: [hostStorage, dataStorage, mediaStorage]
}

module workbook 'modules/workbook.bicep' = {
  scope: group
  params: {
    location: location
    tags: tags
    insightsName: names.insights
  }
  dependsOn: [monitoring]
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_FUNCTION_APP_NAME string = names.functionApp
output AZURE_KEY_VAULT_NAME string = names.vault
output AZURE_DATA_STORAGE_NAME string = names.dataStorage
output AZURE_MEDIA_STORAGE_NAME string = names.mediaStorage
output RELAY_BLUESKY_OAUTH bool = blueskyOAuth
output RELAY_EGRESS_ADDRESS string = egress.?outputs.egressAddress ?? ''
output RELAY_BASE_URL string = functionApp.outputs.baseUrl
