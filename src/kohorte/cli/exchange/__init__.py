"""What `kohorte exchange` does besides its verb."""
