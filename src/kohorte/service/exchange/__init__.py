"""The release check for users of the service, and the door for other institutions."""
