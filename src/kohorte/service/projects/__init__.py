"""Projects: releases to download, and queries under differential privacy."""
