"""The documents of PAGED with their graphs: generated ones, or the user's own."""
