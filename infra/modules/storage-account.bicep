param name string
param location string
param tags { *: string }

@allowed(['Standard_LRS', 'Standard_ZRS', 'Standard_GRS', 'Standard_GZRS'])
param sku string

@description('Name and principal of the identity that gets the roles.')
param identityName string
param principalId string
param assignRoles bool
param roles ('blobContributor' | 'blobOwner' | 'queueContributor' | 'tableContributor')[]
param containers string[]
param queues string[]

@description('Days that a deleted blob can be restored. 0: none.')
param softDeleteDays int

@description('Origins whose pages may upload blobs by a signed address.')
param uploadsFrom string[] = []

@description('Days after which a blob is removed. 0: never.')
param blobDaysMax int = 0
param isLocked bool

@description('Whether only private endpoints reach it.')
param isPrivate bool

var roleIds = {
  blobContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
  blobOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  queueContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  tableContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
}

var deletions = softDeleteDays == 0 ? { enabled: false } : { enabled: true, days: softDeleteDays }

resource account 'Microsoft.Storage/storageAccounts@2026-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: sku }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: { defaultAction: isPrivate ? 'Deny' : 'Allow', bypass: 'AzureServices' }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2026-06-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: deletions
    containerDeleteRetentionPolicy: deletions
    cors: {
      corsRules: empty(uploadsFrom)
        ? []
        : [
            {
              allowedOrigins: uploadsFrom
              allowedMethods: ['PUT']
              allowedHeaders: ['x-ms-blob-type', 'content-type', 'content-length']
              exposedHeaders: []
              maxAgeInSeconds: 3600
            }
          ]
    }
  }
}

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2026-06-01' = if (blobDaysMax > 0) {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: [
        {
          name: 'remove-old-blobs'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: { blobTypes: ['blockBlob'] }
            actions: { baseBlob: { delete: { daysAfterCreationGreaterThan: blobDaysMax } } }
          }
        }
      ]
    }
  }
}

resource blobContainers 'Microsoft.Storage/storageAccounts/blobServices/containers@2026-06-01' = [
  for container in containers: {
    parent: blobs
    name: container
    properties: { publicAccess: 'None' }
  }
]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2026-06-01' = if (!empty(queues)) {
  parent: account
  name: 'default'
}

// The host asks for a queue that is not there as often as for one that is, and warns each time.
resource accountQueues 'Microsoft.Storage/storageAccounts/queueServices/queues@2026-06-01' = [
  for queue in queues: {
    parent: queueService
    name: queue
  }
]

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in (assignRoles ? roles : []): {
    scope: account
    name: guid(account.id, identityName, roleIds[role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleIds[role])
    }
  }
]

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (isLocked) {
  scope: account
  name: 'keep-the-data'
  properties: {
    level: 'CanNotDelete'
    notes: 'An account that is deleted by mistake is gone with everything in it: tables have no soft delete.'
  }
}
