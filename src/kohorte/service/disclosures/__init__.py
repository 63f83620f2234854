"""The ledger of the house in the service: releases that are made, releases and answers that leave."""
