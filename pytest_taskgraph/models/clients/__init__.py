"""The models that answer requests: clients of providers, applications, recorded and scripted replies."""
