"""Series that are kept on the machine of the service: their timelines, and what the next release would be."""
