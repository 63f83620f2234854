"""What a condition tells by itself: about whom it asks, how many these are, and in which detail."""
