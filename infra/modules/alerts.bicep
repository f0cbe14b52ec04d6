param location string
param tags { *: string }
param insightsName string
param storageNames string[]
param mediaStorageName string

@description('Gigabytes of files of customers above which an alert is raised.')
param mediaGigabytesMax int
param healthUrl string
param emails string[]

@description('Every alert on logs, with its query; docs/operate/runbook.md says what to do about each.')
var logAlerts = loadJsonContent('../alerts.json')

var insightsId = resourceId('Microsoft.Insights/components', insightsName)
var storageIds = map(storageNames, name => resourceId('Microsoft.Storage/storageAccounts', name))
var runbook = 'What to do: docs/operate/runbook.md#'
var testLocations = ['emea-nl-ams-azr', 'us-va-ash-azr', 'apac-sg-sin-azr']

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: 'ag-relay'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'relay'
    enabled: true
    emailReceivers: [
      for (email, index) in emails: {
        name: 'mail-${index}'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource logRules 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = [
  for alert in logAlerts: {
    name: alert.name
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: alert.name
      description: '${alert.summary} ${runbook}${alert.name}'
      severity: alert.severity
      enabled: true
      scopes: [insightsId]
      evaluationFrequency: alert.every
      windowSize: alert.window
      autoMitigate: true
      criteria: {
        allOf: [
          {
            query: join(alert.query, '\n')
            timeAggregation: 'Count'
            operator: 'GreaterThan'
            threshold: alert.rowsMax
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      actions: { actionGroups: [people.id] }
    }
  }
]

resource healthTest 'Microsoft.Insights/webtests@2022-06-15' = {
  name: 'relay-health'
  location: location
  tags: union(tags, { 'hidden-link:${insightsId}': 'Resource' })
  kind: 'standard'
  properties: {
    SyntheticMonitorId: 'relay-health'
    Name: 'relay-health'
    Enabled: true
    Frequency: 300
    Timeout: 30
    Kind: 'standard'
    RetryEnabled: true
    Locations: [for place in testLocations: { Id: place }]
    Request: { RequestUrl: healthUrl, HttpVerb: 'GET', ParseDependentRequests: false }
    ValidationRules: { ExpectedHttpStatusCode: 200, SSLCheck: true, SSLCertRemainingLifetimeCheck: 14 }
  }
}

resource unreachable 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: 'unreachable'
  location: 'global'
  tags: tags
  properties: {
    description: 'The health check fails from two places. ${runbook}unreachable'
    severity: 0
    enabled: true
    scopes: [healthTest.id, insightsId]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'
      webTestId: healthTest.id
      componentId: insightsId
      failedLocationCount: 2
    }
    actions: [{ actionGroupId: people.id }]
  }
}

resource storageUnavailable 'Microsoft.Insights/metricAlerts@2026-01-01' = [
  for (storageId, index) in storageIds: {
    name: 'storage-unavailable-${index}'
    location: 'global'
    tags: tags
    properties: {
      description: 'A storage account does not answer as it should. ${runbook}storage-unavailable'
      severity: 1
      enabled: true
      scopes: [storageId]
      evaluationFrequency: 'PT5M'
      windowSize: 'PT15M'
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            name: 'availability'
            criterionType: 'StaticThresholdCriterion'
            metricNamespace: 'Microsoft.Storage/storageAccounts'
            metricName: 'Availability'
            operator: 'LessThan'
            threshold: 99
            timeAggregation: 'Average'
          }
        ]
      }
      actions: [{ actionGroupId: people.id }]
    }
  }
]

resource storageThrottled 'Microsoft.Insights/metricAlerts@2026-01-01' = [
  for (storageId, index) in storageIds: {
    name: 'storage-throttled-${index}'
    location: 'global'
    tags: tags
    properties: {
      description: 'A storage account turns calls away. ${runbook}storage-throttled'
      severity: 2
      enabled: true
      scopes: [storageId]
      evaluationFrequency: 'PT5M'
      windowSize: 'PT15M'
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            name: 'throttled'
            criterionType: 'StaticThresholdCriterion'
            metricNamespace: 'Microsoft.Storage/storageAccounts'
            metricName: 'Transactions'
            operator: 'GreaterThan'
            threshold: 100
            timeAggregation: 'Total'
            dimensions: [
              {
                name: 'ResponseType'
                operator: 'Include'
                values: ['ServerBusyError', 'ClientThrottlingError', 'ClientAccountRequestThrottlingError']
              }
            ]
          }
        ]
      }
      actions: [{ actionGroupId: people.id }]
    }
  }
]

resource mediaGrows 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: 'media-grows'
  location: 'global'
  tags: tags
  properties: {
    description: 'The files of customers take more room than expected. ${runbook}media-grows'
    severity: 3
    enabled: true
    scopes: ['${resourceId('Microsoft.Storage/storageAccounts', mediaStorageName)}/blobServices/default']
    // Storage measures capacity once a day.
    evaluationFrequency: 'PT1H'
    windowSize: 'P1D'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'capacity'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.Storage/storageAccounts/blobServices'
          metricName: 'BlobCapacity'
          operator: 'GreaterThan'
          threshold: mediaGigabytesMax * 1073741824
          timeAggregation: 'Average'
        }
      ]
    }
    actions: [{ actionGroupId: people.id }]
  }
}
