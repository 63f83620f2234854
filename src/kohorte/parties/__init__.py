"""Several holders of data, one anonymous table: no holder sees the rows of another."""
