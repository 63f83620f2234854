"""Projects: releases to download, and questions with noise."""
