"""The routes of the release check, and the door for other institutions."""
