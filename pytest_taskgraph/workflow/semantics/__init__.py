"""What runs of a workflow can do: order, choice, loops and concurrency."""
