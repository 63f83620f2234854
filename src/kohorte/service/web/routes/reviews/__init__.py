"""The routes of review and sign-off."""
