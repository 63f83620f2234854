"""Ways to group rows, compared: published methods beside least_loss, on four tables."""
