"""Steps of complex tasks, and the order between them."""
