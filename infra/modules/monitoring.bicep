param logsName string
param insightsName string
param location string
param tags { *: string }
param retentionDays int

@description('Name and principal of the identity that sends telemetry.')
param identityName string
param principalId string
param assignRoles bool

var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'

resource logs 'Microsoft.OperationalInsights/workspaces@2026-03-01' = {
  name: logsName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionDays
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: insightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: logs.id
    // Telemetry is taken from the identity alone: the connection string is no secret then.
    DisableLocalAuth: true
  }
}

resource publishes 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (assignRoles) {
  scope: insights
  name: guid(insights.id, identityName, metricsPublisher)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
  }
}

output insightsConnectionString string = insights.properties.ConnectionString
