"""What leaves a house for others: releases of projects with pseudonyms and consent, and encoded patient lists."""
