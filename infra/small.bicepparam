using 'main.bicep'

// A first deployment: scales to zero, starts within seconds.
param environmentName = 'relay-small'
param location = 'westeurope'
param size = 'small'
param alertEmails = ['operators@example.com']
