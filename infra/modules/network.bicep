param name string
param location string
param tags { *: string }

@description('Accounts that are reached through private endpoints; none: calls only leave by the address.')
param endpoints {
  account: string
  type: 'Microsoft.Storage/storageAccounts' | 'Microsoft.KeyVault/vaults'
  service: 'blob' | 'queue' | 'table' | 'vault'
}[]

var zoneNames = {
  blob: 'privatelink.blob.${environment().suffixes.storage}'
  queue: 'privatelink.queue.${environment().suffixes.storage}'
  table: 'privatelink.table.${environment().suffixes.storage}'
  vault: 'privatelink.vaultcore${replace(environment().suffixes.keyvaultDns, '.vault.', '.')}'
}
var services = union(map(endpoints, endpoint => endpoint.service), [])

resource address 'Microsoft.Network/publicIPAddresses@2026-03-01' = {
  name: '${name}-egress'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIPAllocationMethod: 'Static' }
}

resource gateway 'Microsoft.Network/natGateways@2026-03-01' = {
  name: '${name}-nat'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIpAddresses: [{ id: address.id }] }
}

resource network 'Microsoft.Network/virtualNetworks@2026-03-01' = {
  name: name
  location: location
  tags: tags
  properties: { addressSpace: { addressPrefixes: ['10.20.0.0/23'] } }
}

resource appSubnet 'Microsoft.Network/virtualNetworks/subnets@2026-03-01' = {
  parent: network
  name: 'app'
  properties: {
    addressPrefix: '10.20.0.0/24'
    natGateway: { id: gateway.id }
    delegations: [{ name: 'flex', properties: { serviceName: 'Microsoft.App/environments' } }]
  }
}

resource endpointSubnet 'Microsoft.Network/virtualNetworks/subnets@2026-03-01' = if (!empty(endpoints)) {
  parent: network
  name: 'endpoints'
  properties: { addressPrefix: '10.20.1.0/24' }
  // One network takes one change of its subnets at a time.
  dependsOn: [appSubnet]
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for service in services: {
    name: zoneNames[service]
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (service, index) in services: {
    parent: zones[index]
    name: name
    location: 'global'
    tags: tags
    properties: { virtualNetwork: { id: network.id }, registrationEnabled: false }
  }
]

resource privateEndpoints 'Microsoft.Network/privateEndpoints@2026-03-01' = [
  for endpoint in endpoints: {
    name: 'pe-${endpoint.account}-${endpoint.service}'
    location: location
    tags: tags
    properties: {
      subnet: { id: endpointSubnet.id }
      privateLinkServiceConnections: [
        {
          name: endpoint.service
          properties: {
            privateLinkServiceId: resourceId(endpoint.type, endpoint.account)
            groupIds: [endpoint.service]
          }
        }
      ]
    }
  }
]

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2026-03-01' = [
  for (endpoint, index) in endpoints: {
    parent: privateEndpoints[index]
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [
        {
          name: endpoint.service
          properties: { privateDnsZoneId: resourceId('Microsoft.Network/privateDnsZones', zoneNames[endpoint.service]) }
        }
      ]
    }
    dependsOn: [zones]
  }
]

output egressAddress string = address.properties.ipAddress
