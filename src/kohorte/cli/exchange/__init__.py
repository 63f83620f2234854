"""What `kohorte exchange` and `kohorte disclosures` do besides their verbs."""
