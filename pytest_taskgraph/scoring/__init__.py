"""Marking: a reply is cut (`extract`), read (`forms`), measured (`metrics`), and comes out as a score (`grade`)."""
