"""What people are told about a release: the verdict, what was lost, and what it is for; it knows no search."""
