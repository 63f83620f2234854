"""Making a release part of its series: certificate, commit, output files."""
