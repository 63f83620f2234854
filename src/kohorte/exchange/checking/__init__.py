"""The steps of a check: what is rare in the world, what stands out here, what would be sent, what is recommended."""
