"""The benchmark TaskLAMA (Yuan et al. 2024): the steps of a complex task, and the order between them."""
