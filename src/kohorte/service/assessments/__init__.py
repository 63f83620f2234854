"""The risk of releases, measured for people who prepare, review or supervise them."""
