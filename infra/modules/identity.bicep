param name string
param location string
param tags { *: string }

// Assigned by hand, not by the app's life: its roles exist before the app starts, and outlive a new app.
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

output clientId string = identity.properties.clientId
output principalId string = identity.properties.principalId
