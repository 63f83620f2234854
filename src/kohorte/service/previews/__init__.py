"""What a plan would release, before anything is stored or leaves."""
