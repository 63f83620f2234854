"""Actions that need the approval of a second person, and the requests that wait for it."""
