param location string
param tags { *: string }
param insightsName string

var insightsId = resourceId('Microsoft.Insights/components', insightsName)

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(insightsId, 'relay workbook')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Publishing relay'
    category: 'workbook'
    sourceId: insightsId
    serializedData: loadTextContent('../workbook.json')
  }
}
