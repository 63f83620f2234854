"""Everything that leaves on its way into the ledger: files, releases of a series, answers with noise."""
