param location string
param tags { *: string }
param functionAppName string
param planName string
param hostName string
param vaultName string

@description('Of a certificate in the vault. The App Service resource provider needs the role Key Vault Certificate User.')
param certificateName string

resource functionApp 'Microsoft.Web/sites@2025-03-01' existing = {
  name: functionAppName
}

// Certificates of Flex Consumption belong to their app.
resource certificate 'Microsoft.Web/sites/certificates@2025-03-01' = {
  parent: functionApp
  name: certificateName
  location: location
  tags: tags
  properties: {
    keyVaultId: resourceId('Microsoft.KeyVault/vaults', vaultName)
    keyVaultSecretName: certificateName
    serverFarmId: resourceId('Microsoft.Web/serverfarms', planName)
  }
}

resource binding 'Microsoft.Web/sites/hostNameBindings@2025-03-01' = {
  parent: functionApp
  name: hostName
  properties: {
    sslState: 'SniEnabled'
    thumbprint: certificate.properties.thumbprint
  }
}
