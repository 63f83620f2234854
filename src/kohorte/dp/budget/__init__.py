"""Privacy budgets, costs, and the ledgers of what was spent."""
