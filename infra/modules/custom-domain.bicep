param location string
param tags object
param functionAppName string
param planId string
param hostName string
param vaultId string

@description('Of a certificate in the vault. The App Service resource provider needs the role Key Vault Certificate User.')
param certificateName string

resource functionApp 'Microsoft.Web/sites@2024-04-01' existing = {
  name: functionAppName
}

resource certificate 'Microsoft.Web/certificates@2024-04-01' = {
  name: '${functionAppName}-${certificateName}'
  location: location
  tags: tags
  properties: {
    keyVaultId: vaultId
    keyVaultSecretName: certificateName
    serverFarmId: planId
  }
}

resource binding 'Microsoft.Web/sites/hostNameBindings@2024-04-01' = {
  parent: functionApp
  name: hostName
  properties: {
    sslState: 'SniEnabled'
    thumbprint: certificate.properties.thumbprint
  }
}
