"""The models that answer requests: clients of providers, applications, recorded replies."""
