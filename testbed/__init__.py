"""What tests and benchmarks run on: a service and a PostgreSQL of their own, made-up patients, the public tables."""
