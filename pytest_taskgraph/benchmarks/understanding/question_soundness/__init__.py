"""Whether questions about workflows are sound: instances to check, properties of their own, rules on the surface."""
