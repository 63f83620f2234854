"""What tests need to build tables and problems, and an oracle that knows nothing of the package."""
