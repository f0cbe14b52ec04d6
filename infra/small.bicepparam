using 'main.bicep'

// A first deployment: no instance is kept awake.
param environmentName = 'relay-small'
param location = 'westeurope'
param size = 'small'
param alertEmails = ['operators@example.com']
