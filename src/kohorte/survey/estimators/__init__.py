"""Estimate how many people would be unique by their answers: estimators, expectation, simulation, worst case."""
