"""What is looked at before anything is made."""
