param name string
param location string
param tags { *: string }

@description('Name and principal of the identity that reads the secrets.')
param identityName string
param principalId string
param assignRoles bool
param deployerPrincipalId string
param logsName string

@description('Whether only private endpoints and the addresses below may reach it.')
param isPrivate bool

@description('Addresses or ranges that may write secrets when it is private.')
param deployerAddresses string[]

var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6'
var secretsOfficer = 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7'

// Its secrets are not made here: no template, parameter file or deployment history ever sees one.
resource vault 'Microsoft.KeyVault/vaults@2026-05-15' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: subscription().tenantId
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    enableSoftDelete: true
    softDeleteRetentionInDays: 90
    // A lost pepper or data key loses every key, password and linked account.
    enablePurgeProtection: true
    publicNetworkAccess: isPrivate && empty(deployerAddresses) ? 'Disabled' : 'Enabled'
    networkAcls: {
      defaultAction: isPrivate ? 'Deny' : 'Allow'
      // App Service reads the certificate of a custom domain as such a service.
      bypass: 'AzureServices'
      ipRules: [for address in (isPrivate ? deployerAddresses : []): { value: address }]
    }
  }
}

resource reads 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (assignRoles) {
  scope: vault
  name: guid(vault.id, identityName, secretsUser)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}

resource writes 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(deployerPrincipalId)) {
  scope: vault
  name: guid(vault.id, deployerPrincipalId, secretsOfficer)
  properties: {
    principalId: deployerPrincipalId
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsOfficer)
  }
}

// No version of this type but previews is newer than 2016.
#disable-next-line use-recent-api-versions
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: vault
  name: 'who-read-what'
  properties: {
    workspaceId: resourceId('Microsoft.OperationalInsights/workspaces', logsName)
    logs: [{ categoryGroup: 'audit', enabled: true }]
  }
}
